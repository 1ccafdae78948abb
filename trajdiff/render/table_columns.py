"""The columns of each export: their names in order, and one line on what each means."""

from __future__ import annotations


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


TRIAL_COLUMNS = _names(
    """ref task_id trial_id producer_id verdict reward verdict_rule termination steps tool_calls errors tokens
    cost duration variant source"""
)

ALIGNMENT_COLUMNS = _names(
    """task_id step trial_id verdict is_reference op tool effect arguments arguments_changed result is_error
    text is_root is_manifest is_first_difference message_index json_path ref"""
)

#: What a reviewer fills in.
REVIEW_COLUMNS = _names("review_verdict review_category review_ref review_note reviewer")

DIVERGENCE_COLUMNS = (
    *_names(
        """row_id task_id trial_id trials finding abstained reason grade actor kind tool root_step manifest_step
        root_message_index manifest_message_index sentence support failed_with failed passed_with passed
        smallest_p provenance recovery first_difference source passed_source accepted"""
    ),
    *REVIEW_COLUMNS,
)

#: Before and after the columns whose number depends on the largest k of the report. ``passed`` stands once:
#: all passed trials of the task, which is also what ``passed_with`` is counted in.
REPORT_HEAD = _names("task_id title trials n_expected n_completed n_counted passed infra unscored missing")
REPORT_TAIL = _names(
    "disagree finding grade actor kind root_step manifest_step sentence failed_with failed passed_with"
)

MEANINGS = {
    "row_id": "identity of the row: the same in a later run of the tool on the same trials",
    "task_id": "id of the task",
    "trial_id": "id of the trial within its task",
    "ref": "file, task, trial and message, as path#task/trial@message",
    "producer_id": "the id the producer of the log gave the trial",
    "verdict": "pass, fail, unscored, infra or missing",
    "reward": "reward as recorded",
    "verdict_rule": "the rule that gave the verdict",
    "termination": "why the trial ended",
    "steps": "steps of the trial",
    "tool_calls": "tool calls of the trial",
    "errors": "tool calls that failed",
    "tokens": "tokens, where recorded",
    "cost": "cost in US dollars, where recorded",
    "duration": "seconds, where recorded",
    "variant": "number of the variant: trials with the same path have the same",
    "source": "place of the trial, or of the root step in the failed trial",
    "step": "row of the aligned table, the same for all trials of the task",
    "is_reference": "whether the trial is the reference: the passed trial closest to the other passed ones",
    "op": "how the step compares: reference, same, changed, other_result, extra, missing, moved, absent",
    "tool": "name of the tool",
    "effect": "what the tool does: read, write, control or unknown",
    "arguments": "arguments of the call as JSON",
    "arguments_changed": "paths of the arguments that differ from the reference, as JSON",
    "result": "what the tool gave back",
    "is_error": "whether the tool said that the call failed",
    "text": "text of a message, or why the trial ended",
    "is_root": "whether the divergence of this trial has its root step here",
    "is_manifest": "whether the divergence of this trial first shows in an effect here",
    "is_first_difference": "whether this is the first difference of the trial, harmless or not",
    "message_index": "message of the recorded list, counted from 0",
    "json_path": "JSON path of the step in the log",
    "trials": "failed trials with the same divergence, or the verdicts of all trials of the task",
    "finding": "divergence, same_path_other_outcome, abstained, infrastructure, never_pass, always_pass",
    "abstained": "whether nothing is claimed",
    "reason": "why nothing is claimed",
    "grade": "A to D: how much stands behind the divergence",
    "actor": "whose step it is: agent, user, environment, infrastructure, grader",
    "kind": "what separates outcomes, such as missing_step or wrong_argument",
    "root_step": "row of the aligned table where the paths part",
    "manifest_step": "row where this first shows in an effect",
    "root_message_index": "recorded message of the root step, counted from 0",
    "manifest_message_index": "recorded message of the manifest step, counted from 0",
    "sentence": "the divergence, or the reason for abstaining, in one sentence",
    "support": "failed with it / failed, passed with it / passed",
    "failed_with": "failed trials with the deviation",
    "failed": "failed trials it was looked for in",
    "passed_with": "passed trials with the deviation",
    "passed": "passed trials",
    "smallest_p": "the smallest p that any split of so few trials could reach",
    "provenance": "where the deciding value was first seen",
    "recovery": "whether the deviation was repaired",
    "first_difference": "the earliest difference of the trial, harmless or not",
    "passed_source": "place of the same step in the reference",
    "accepted": "reason of the accept entry that matched",
    "review_verdict": "to fill in: agree, disagree or unsure",
    "review_category": "to fill in: whose doing it was",
    "review_ref": "to fill in after disagree: the right place, such as L1-061/1@6",
    "review_note": "to fill in: free text",
    "reviewer": "to fill in: who you are",
    "title": "title of the task",
    "n_expected": "planned trials, where a plan is recorded",
    "n_completed": "recorded trials",
    "n_counted": "trials that count",
    "infra": "trials ended by infrastructure",
    "unscored": "trials without a verdict",
    "missing": "planned trials that are not there",
    "pass_hat_1": "pass^1; pass_hat_K stands for every K up to the largest n, empty above the n of the task",
    "pass_at_1": "pass@1; pass_at_K stands for every K up to the largest n, empty above the n of the task",
    "disagree": "share of pairs of trials with different outcomes",
}


def known_columns(name: str) -> tuple[str, ...]:
    """The columns of a table by their names; of pass^k and pass@k the first stands for all."""
    return {
        "trials": TRIAL_COLUMNS,
        "alignment": ALIGNMENT_COLUMNS,
        "divergences": DIVERGENCE_COLUMNS,
        "report": (*REPORT_HEAD, "pass_hat_1", "pass_at_1", *REPORT_TAIL),
    }[name]
