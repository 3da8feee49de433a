"""How a finished text is taken apart and said again."""

from __future__ import annotations

from rlopt import language
from rlopt.language import Name, tr
from rlopt.language.catalogue import Catalogue
from rlopt.language.template import joined

SMALL = Catalogue(
    {
        "{job} costs {total} and is done in {hours}": "{job!r}的成本为 {total}，{hours}完成",
        ", the deadline is {hours}": "，截止时间为 {hours}",
        "{value} days ({hours} h)": "{value} 天（{hours} h）",
        "{n} samples": "{n} 个样本",
        "samples": "样本",
        "weights": "权重",
        "reads {what}{where}": "读取{what}{where}",
        " from the store": "（来自存储）",
        "{id}: price unknown": "{id!s}：价格未知",
        "; ": "；",
        "{a}, {b}": "{a}，{b}",
        ".": "。",
    }
)


def test_a_sentence_is_said_with_what_stands_in_its_gaps() -> None:
    said = SMALL.say("math costs $612 and is done in 3.2 days (76 h), the deadline is 80 h.")
    assert said == "math 的成本为 $612，3.2 天（76 h）完成，截止时间为 80 h。"


def test_numbers_and_what_they_count() -> None:
    assert SMALL.say("8 samples") == "8 个样本"
    assert SMALL.say("samples") == "样本"
    assert SMALL.say("weights 14.2, samples") == "权重 14.2，样本"


def test_gaps_that_touch_are_one() -> None:
    assert SMALL.say("reads weights") == "读取权重"
    assert SMALL.say("reads weights from the store") == "读取权重（来自存储）"


def test_a_name_stays_and_is_no_sentence() -> None:
    assert SMALL.say("weights: price unknown") == "weights：价格未知"
    assert SMALL.say("x, y: price unknown") != "x, y：价格未知"


def test_what_is_so_of_several_things_is_said_without_them() -> None:
    assert SMALL.say("price unknown") == "价格未知"


def test_an_unknown_text_stays() -> None:
    assert SMALL.say("nobody reads the logs") == "nobody reads the logs"
    assert SMALL.unsaid("nobody reads the logs") > 0


def test_lines_and_spaces_around_are_kept() -> None:
    assert SMALL.say("  weights \n samples") == "  权重 \n 样本"


def test_what_was_said_stays_said() -> None:
    once = SMALL.say("weights 14.2, samples")
    assert SMALL.say(once) == once


def test_a_space_stands_between_chinese_and_latin_letters() -> None:
    assert joined(["成本", "$5", "，", "约", "3 天", "完成"]) == "成本 $5，约 3 天完成"
    assert joined(["a ", "b"]) == "a b"


def test_a_name_is_the_same_in_every_language() -> None:
    with language.use("zh"):
        assert tr("weights") != "weights"
        assert tr(Name("weights")) == "weights"
    assert tr("weights") == "weights"


def test_a_hostile_text_is_said_in_bounded_work() -> None:
    for text in ("a x " * 5000, "x; " * 5000, ", ".join("ab" * 3000), "(" * 9000, "a and b, " * 900, "x: " * 2000):
        with language.use("zh"):
            assert len(tr(text)) >= len(text) // 3
