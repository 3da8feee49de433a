"""What launchers write is read back: names, traps, restarts, and files that are not what they should be."""

from __future__ import annotations

import contextlib
import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlopt.errors import InputError
from rlopt.launchers.logs import LAUNCHERS
from rlopt.launchers.logs.contract import GENERATE, HAND_OVER, SCORE, STEP, UPDATE
from rlopt.launchers.logs.lines import LONGEST_LINE
from rlopt.launchers.logs.log import Log, read_log
from rlopt.launchers.logs.steady_state import SteadyState, steady_state
from tests.launchers.logs import writers
from tests.launchers.logs.writers import Truth

TRUTH = Truth()
WHOLE = sum(TRUTH.seconds.values()) + TRUTH.other
STAGES = (GENERATE, SCORE, UPDATE, HAND_OVER)


def _read(tmp_path: Path, content: str | bytes, name: str = "run.log", launcher: str | None = None) -> Log:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_log(path, launcher)


def _near(found: SteadyState, **told: float) -> None:
    for stage, seconds in told.items():
        assert found.middles[stage].seconds == pytest.approx(seconds, rel=0.02), stage


@pytest.mark.parametrize(
    ("write", "launcher", "stages", "whole"),
    [
        (writers.verl, "verl", STAGES, WHOLE),
        (writers.verl_jsonl, "verl", STAGES, WHOLE),
        (writers.openrlhf, "openrlhf", STAGES, WHOLE - TRUTH.other),
        (writers.trl, "trl", (), WHOLE),
        (writers.nemo_rl, "nemo-rl", STAGES, WHOLE),
        (writers.nemo_tracked, "nemo-rl", STAGES, WHOLE),
        (writers.slime, "slime", STAGES, WHOLE),
    ],
)
def test_every_launcher_is_told_by_its_lines_and_read_back(
    tmp_path: Path, write: Callable[..., list[str]], launcher: str, stages: tuple[str, ...], whole: float
) -> None:
    log = _read(tmp_path, writers.text(["Starting", *write(TRUTH, 24), "done"]))
    found = steady_state(log)
    assert launcher == log.launcher.NAME
    assert not log.skipped
    assert set(found.middles) == {STEP, *stages}
    _near(found, **{stage: TRUTH.seconds[stage] for stage in stages}, **{STEP: whole})
    if launcher != "slime":
        assert found.response_tokens == pytest.approx(TRUTH.response, rel=1e-3)
    assert found.used[2] == 21
    assert found.left_out == {"first steps after a start": 3}
    assert found.last == 24


def test_a_trainers_state_has_numbers_of_steps(tmp_path: Path) -> None:
    log = _read(tmp_path, writers.trainer_state(TRUTH, 20), "trainer_state.json")
    found = steady_state(log)
    assert (log.launcher.NAME, found.last) == ("trl", 20)
    assert log.skipped == {"no step_time": (1, 1)}
    _near(found, **{STEP: WHOLE})


def test_every_launcher_has_lines_here() -> None:
    assert [one.NAME for one in LAUNCHERS] == ["verl", "openrlhf", "trl", "nemo-rl", "slime"]


def test_samples_follow_from_tokens_and_lengths(tmp_path: Path) -> None:
    for write in (writers.verl, writers.openrlhf):
        assert steady_state(_read(tmp_path, writers.text(write(TRUTH, 8)))).sequences == pytest.approx(TRUTH.sequences)


def test_a_checkpoint_is_no_part_of_a_step(tmp_path: Path) -> None:
    often = Truth(save_every=1, save=500.0)
    for write in (writers.verl, writers.nemo_rl):
        _near(steady_state(_read(tmp_path, writers.text(write(often, 12)))), **{STEP: WHOLE})


def test_a_restart_counts_the_later_record_and_warms_up_again(tmp_path: Path) -> None:
    slower = Truth(seconds={stage: 1.5 * spent for stage, spent in TRUTH.seconds.items()})
    lines = [*writers.verl(slower, 20), "Traceback (most recent call last):", *writers.verl(TRUTH, 30, first=11)]
    found = steady_state(_read(tmp_path, writers.text(lines)))
    assert found.left_out == {"first steps after a start": 6, "done again after a restart": 7, "restarts": 1}
    assert found.used == (4, 40, 37)
    assert found.last == 40
    _near(found, **{UPDATE: TRUTH.seconds[UPDATE]})


def test_a_line_printed_twice_is_one_step(tmp_path: Path) -> None:
    lines = [line for line in writers.verl(TRUTH, 10) for _ in range(2)]
    found = steady_state(_read(tmp_path, writers.text(lines)))
    assert found.left_out == {"first steps after a start": 3, "logged twice": 10}
    assert found.logged_steps == 20


def test_where_sampling_runs_beside_training_its_timer_is_a_wait(tmp_path: Path) -> None:
    lines = [
        line + " - timing_s/param_sync:2.0 - fully_async/trainer/idle_ratio:0.4" for line in writers.verl(TRUTH, 9)
    ]
    found = steady_state(_read(tmp_path, writers.text(lines)))
    assert found.overlapped
    assert GENERATE not in found.middles
    assert set(found.middles) == {STEP, SCORE, UPDATE, HAND_OVER}


def test_a_sum_of_timers_is_not_the_whole_step(tmp_path: Path) -> None:
    assert not steady_state(_read(tmp_path, writers.text(writers.openrlhf(TRUTH, 8)))).whole
    wall = [line.replace("'timing/step_total': ", "'timing/step_total': 5") for line in writers.openrlhf(TRUTH, 8)]
    found = steady_state(_read(tmp_path, writers.text(wall)))
    assert (found.whole, found.overlapped) == (True, True)


def test_colours_workers_progress_bars_and_other_output_do_no_harm(tmp_path: Path) -> None:
    lines = []
    for line in writers.verl(TRUTH, 12, prefix="\x1b[36m(TaskRunner pid=9, ip=10.0.0.1)\x1b[0m "):
        lines += ["Training:  3%|▎ | 12/390 [01:02<32:36]\r" + line, "\x1b]0;title\x07INFO vllm: 5 tokens/s"]
        lines[-2] += "(WorkerDict pid=3) Capturing batches - 12:30 - a:b"
    log = _read(tmp_path, writers.text(lines))
    assert len(log.steps) == 12
    _near(steady_state(log), **{STEP: WHOLE})


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_encodings_with_a_mark_are_read(tmp_path: Path, encoding: str) -> None:
    assert len(_read(tmp_path, writers.text(writers.nemo_rl(TRUTH, 5)).encode(encoding)).steps) == 5


def test_foreign_bytes_and_a_packed_file(tmp_path: Path) -> None:
    content = writers.text(writers.verl(TRUTH, 6)).encode() + b"\xff\xfe\x00 caf\xe9\n"
    assert len(_read(tmp_path, content).steps) == 6
    assert len(_read(tmp_path, gzip.compress(content), "run.log.gz").steps) == 6


def test_what_is_cut_off_or_hostile_is_counted_and_named(tmp_path: Path) -> None:
    lines = writers.openrlhf(TRUTH, 6)
    head = lines[0].partition("{")[0]
    bad = [lines[0][:-60], head + "{" * 50_000, head + "{'timing/step_total': -4.0}", head + "{'a': 1}",
           head + "{'timing/step_total': 1e300}", head + "x" * (LONGEST_LINE + 1)]  # fmt: skip
    log = _read(tmp_path, writers.text([*lines, *bad]) + lines[0][:200])
    assert len(log.steps) == 6
    reasons = {reason: count for reason, (count, _) in log.skipped.items()}
    assert reasons["the dictionary is cut off or mixed with other output"] == 3
    assert reasons["step takes -4 s"] == 1
    assert reasons["step takes 1e+300 s"] == 1
    assert reasons["no timing/step_total"] == 1
    assert reasons["is longer than 4 Mi characters"] == 1
    assert all(line > 6 for _, line in log.skipped.values())


def test_what_runs_code_in_other_readers_is_text_here(tmp_path: Path) -> None:
    lines = writers.openrlhf(TRUTH, 4)
    mark = tmp_path / "ran"
    evil = lines[0].partition("{")[0] + f"{{'timing/step_total': open({str(mark)!r}, 'w').write('x')}}"
    log = _read(tmp_path, writers.text([*lines, evil]))
    assert len(log.steps) == 4
    assert not mark.exists()


@pytest.mark.parametrize(
    "content", ["", "nothing here\n", "step:3 - loss:1.0\n", "{}\n", '{"log_history": 3}', "\x00" * 9]
)
def test_a_file_without_steps_is_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(InputError, match="no step with its time is found"):
        _read(tmp_path, content)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder"):
        read_log(tmp_path)
    with pytest.raises(InputError, match="there is no such file"):
        read_log(tmp_path / "none")
    broken = gzip.compress(writers.text(writers.verl(TRUTH, 50)).encode())[:-40]
    with pytest.raises(InputError, match="cannot be read"):
        _read(tmp_path, broken)


def test_a_format_can_be_forced_and_must_be_known(tmp_path: Path) -> None:
    content = writers.text([*writers.trl(TRUTH, 5), *writers.verl(TRUTH, 5)])
    assert _read(tmp_path, content).launcher.NAME == "trl"
    assert _read(tmp_path, content, launcher="verl").launcher.NAME == "verl"
    with pytest.raises(InputError, match="is no format"):
        _read(tmp_path, content, launcher="veRL")
    with pytest.raises(InputError, match=r"no step with its time is found \(slime\)"):
        _read(tmp_path, content, launcher="slime")


@settings(max_examples=60)
@given(
    write=st.sampled_from([writers.verl, writers.openrlhf, writers.nemo_rl, writers.trl, writers.verl_jsonl]),
    cuts=st.lists(st.tuples(st.integers(0, 4000), st.binary(max_size=6)), max_size=12),
)
def test_whatever_is_spoilt_ends_in_steps_or_in_bad_input(
    tmp_path_factory: pytest.TempPathFactory, write: Callable[..., list[str]], cuts: list[tuple[int, bytes]]
) -> None:
    content = bytearray(writers.text(write(TRUTH, 6)).encode())
    for place, put in cuts:
        content[place : place + len(put)] = put
    path = tmp_path_factory.getbasetemp() / "spoilt.log"
    path.write_bytes(bytes(content))
    found = None
    with contextlib.suppress(InputError):
        found = steady_state(read_log(path))
    assert found is None or all(0.0 < one.seconds < 1e7 for one in found.middles.values())


def test_steps_that_follow_each_other_tell_less_than_their_number(tmp_path: Path) -> None:
    steps = steady_state(_read(tmp_path, writers.text(writers.verl(Truth(noise=0.05), 103))))
    assert steps.middles[UPDATE].sigma == pytest.approx(0.05 * 1.2533 / 10.0, rel=0.5)


def test_a_published_line_of_verl(tmp_path: Path) -> None:
    # From https://github.com/verl-project/verl/issues/1208 (2025-04, four GH200), shortened to what is read.
    line = (
        "(TaskRunner pid=16292) step:2 - global_seqlen/mean:547190.500 - perf/mfu/actor:1.018 - "
        "response_length/mean:324.958 - prompt_length/mean:102.534 - timing_s/gen:74.020 - "
        "timing_s/old_log_prob:3.566 - timing_s/ref:3.420 - timing_s/adv:1.167 - timing_s/update_actor:14.302 - "
        "timing_s/step:96.551"
    )
    log = _read(tmp_path, line)
    assert log.steps[0].seconds == pytest.approx({GENERATE: 74.02, SCORE: 6.986, UPDATE: 14.302, STEP: 96.551})
    assert log.steps[0].response_tokens == 324.958
