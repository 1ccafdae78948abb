"""What the exceptions of Harbor mean: whether the reward stays valid, and why the trial ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trajdiff.model import TerminationReason

# fmt: off
_INVALID = frozenset((
    # environment and sandbox
    "EnvironmentStartTimeoutError", "SandboxBuildFailedError", "AgentSetupTimeoutError", "HealthcheckError",
    "SandboxLikelyOutOfMemoryError", "MemoryLimitExceededError", "SSHAccessError", "GKEExecStreamClosedError",
    "GKEPodNotFoundError", "RuntimeRequestError", "AddTestsDirError", "DownloadVerifierDirError",
    # provider and network
    "ApiError", "ApiRateLimitError", "ApiInternalServerError", "ApiOverloadedError", "ApiConnectionClosedError",
    "ApiResponseStalledError", "UnknownApiError", "NetworkConnectionError", "ApiConnectionError",
    "ApiUsageLimitError", "RateLimitError", "InternalServerError", "ServiceUnavailableError",
    "APIConnectionError", "APIError", "Timeout",
    # request and verifier
    "UnsupportedModelParametersError", "BadRequestError", "UnprocessableEntityError", "UnsupportedParamsError",
    "APIResponseValidationError", "BudgetExceededError", "VerifierTimeoutError", "RewardFileNotFoundError",
    "RewardFileEmptyError", "VerifierOutputParseError",
    # set-up and access
    "AgentAuthenticationError", "ModelNotFoundError", "ApiProviderResourceNotFoundError",
    "AuthenticationError", "PermissionDeniedError", "NotFoundError", "ServiceOperationsUnsupportedError",
    "VercelScopeError", "DspyImportError", "MissingExtraError", "RegradeError", "CancelledError",
))
# fmt: on
_REASONS = {
    "AgentTimeoutError": TerminationReason.TIME_LIMIT,
    "ContextWindowExceededError": TerminationReason.CONTEXT_LIMIT,
    "ContextLengthExceededError": TerminationReason.CONTEXT_LIMIT,
    "OutputTokenExceededError": TerminationReason.TOKEN_LIMIT,
    "OutputLengthExceededError": TerminationReason.TOKEN_LIMIT,
    "AgentSafetyRefusalError": TerminationReason.REFUSAL,
    "ContentPolicyViolationError": TerminationReason.REFUSAL,
    "NonZeroAgentExitCodeError": TerminationReason.AGENT_ERROR,
    "CancelledError": TerminationReason.CANCELLED,
}


def makes_invalid(exception: Mapping[str, Any]) -> bool:
    """Whether a recorded exception takes the reward's validity; a recorded policy wins over the table."""
    for key in ("policy_override", "policy"):
        said = exception.get(key)
        if isinstance(said, dict):
            said = said.get("reward_valid")
        if isinstance(said, bool):
            return not said
        if said in ("valid", "invalid"):
            return bool(said == "invalid")
    return str(exception.get("exception_type")) in _INVALID


def reason_of(name: str) -> TerminationReason:
    """Why a trial with this exception ended."""
    return _REASONS.get(
        name, TerminationReason.INFRA_ERROR if name in _INVALID else TerminationReason.AGENT_ERROR
    )
