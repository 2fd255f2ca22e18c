"""What a converter of nbgrader's is made to do more is that converter's alone, and its settings are found as before."""

from __future__ import annotations

from nbgrader.converters import Autograde, BaseConverter, GenerateFeedback
from traitlets.config import Config

from autograder.plugins.extending import extend
from autograder.plugins.renewing import Renewal
from autograder.plugins.starting import Marking


def test_one_converter_does_more_and_nbgraders_class_is_what_it_was() -> None:
    before = dict(vars(Autograde))
    one, other = Autograde(), Autograde()
    extend(one, Marking)
    assert type(one).run_pre_convert_hook is Marking.run_pre_convert_hook
    assert type(other) is Autograde
    assert type(Autograde()).run_pre_convert_hook is BaseConverter.run_pre_convert_hook
    assert dict(vars(Autograde)) == before


def test_it_is_called_what_it_was_called_and_reads_the_same_settings() -> None:
    one = GenerateFeedback(config=Config({"GenerateFeedback": {"force": True}}))
    extend(one, Renewal)
    assert type(one).__name__ == "GenerateFeedback"
    one.update_config(Config({"GenerateFeedback": {"force": False}}))
    assert isinstance(one, Renewal)
    assert not one.force


def test_what_is_ours_already_stays_what_it_is() -> None:
    one = Renewal()
    extend(one, Renewal)
    assert type(one) is Renewal
