"""The agent of the shop: ``python -m trajdiff.demo.agent [--without FAULT,FAULT]``, run by ``trajdiff run``."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from pathlib import Path

from trajdiff import record
from trajdiff.demo.shop import Shop, chance

#: What goes wrong in about half of the trials of one task each; see ``Agent``.
FAULTS = ("date", "permission", "retry", "error", "silence")
PROMPT = "You serve the customers of a furniture shop. Ask for permission before you refund."


class Agent:
    """Follows the script of a task; ``faulty`` names the faults that may strike."""

    def __init__(self, shop: Shop, trial: record.Trial, seed: int, faulty: tuple[str, ...]) -> None:
        self.shop, self.trial, self.seed, self.faulty = shop, trial, seed, faulty

    def strikes(self, fault: str) -> bool:
        """Whether this fault strikes in this trial."""
        return fault in self.faulty and chance(self.seed, fault, 0.5)

    def look_up(self, order_id: str) -> None:
        """Looks at an order, and now and then at its customer, which changes nothing."""
        order = self.shop.get_order(order_id)
        if chance(self.seed, "customer", 0.4):
            self.shop.get_customer(order["customer"])

    def say(self, *ways: str) -> None:
        """One of several ways to say the same."""
        self.trial.agent(ways[chance(self.seed, "wording", 0.5)])

    def move_delivery(self) -> None:
        """The fault lies in the date tool, which the shop knows."""
        asked = self.trial.user("Please deliver my desk, order D-1, on 04/05 instead.")
        self.look_up("D-1")
        found = re.search(r"\d+/\d+", asked)
        day = self.shop.parse_date(text=found[0] if found else "04/05")
        self.shop.move_delivery("D-1", day)
        self.say("The delivery has been moved.", "Done, your desk comes on the new day.")

    def refund_lamp(self) -> None:
        """``permission``: refunds without asking."""
        self.trial.user("My lamp, order L-2, came broken. I want my money back.")
        self.look_up("L-2")
        if not self.strikes("permission"):
            self.shop.check_permission("L-2", 49.9)
        self.shop.refund_item("L-2", 49.9)
        self.say("I have refunded 49.90.", "You get 49.90 back.")

    def pay_invoice(self) -> None:
        """``retry``: charges again after a lost answer instead of looking."""
        self.trial.user("Please charge my card for order I-3.")
        self.look_up("I-3")
        try:
            self.shop.charge_card("I-3", 120.0)
        except TimeoutError:
            if self.strikes("retry"):
                self.shop.charge_card("I-3", 120.0)
            else:
                self.shop.get_charges("I-3")
        self.say("Your card has been charged.", "Order I-3 is paid.")

    def replace_mug(self) -> None:
        """``error``: gives up after an error that goes away."""
        self.trial.user("My mug, order M-4, has a crack. Please send another one.")
        self.look_up("M-4")
        try:
            self.shop.ship_replacement("M-4")
        except RuntimeError:
            if self.strikes("error"):
                self.trial.agent("I am sorry, I cannot send a new mug.")
                return
            self.shop.ship_replacement("M-4")
        self.say("A new mug is on its way.", "We have shipped a new mug.")

    def close_ticket(self) -> None:
        """``silence``: stops in the middle, without a word."""
        self.trial.user("End my subscription, ticket K-5, and close the ticket.")
        self.shop.get_ticket("K-5")
        self.shop.cancel_subscription("K-5")
        if self.strikes("silence"):
            return
        self.shop.close_ticket("K-5")
        self.say("Your subscription has ended and the ticket is closed.", "Both are done.")

    def ask_delivery(self) -> None:
        """Nothing can go wrong here."""
        self.trial.user("When does my table, order T-6, arrive?")
        self.look_up("T-6")
        self.say("It arrives on 2027-05-11.", "On 2027-05-11.")


SCRIPTS: dict[str, Callable[[Agent], None]] = {
    "move-delivery": Agent.move_delivery,
    "refund-lamp": Agent.refund_lamp,
    "pay-invoice": Agent.pay_invoice,
    "replace-mug": Agent.replace_mug,
    "close-ticket": Agent.close_ticket,
    "ask-delivery": Agent.ask_delivery,
}


def run(setup: record.Setup, faulty: tuple[str, ...]) -> None:
    """One trial as the runner told it."""
    seed, task = setup.seed or 0, setup.task or "move-delivery"
    shop = Shop(Path(setup.work or "."), seed, misreads_dates="date" in faulty)
    version = "faults: " + (", ".join(faulty) or "none")
    about = {"model": "script", "agent": "shop", "prompt": PROMPT, "tool_version": version}
    try:
        with record.trial(setup=setup, sampling={"temperature": 1.0}, tools=shop.tools(), **about) as trial:
            SCRIPTS[task](Agent(shop, trial, seed, faulty))
    finally:
        shop.close()


def main() -> None:
    """Reads the options of the command line."""
    parser = argparse.ArgumentParser(prog="python -m trajdiff.demo.agent")
    parser.add_argument("--without", default="", help=f"faults to switch off: all, or of {', '.join(FAULTS)}")
    off = parser.parse_args().without.split(",")
    run(record.setup_from(), () if off == ["all"] else tuple(one for one in FAULTS if one not in off))


if __name__ == "__main__":
    main()
