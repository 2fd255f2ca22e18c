"""The filter of system calls, decided instruction by instruction as the kernel would, on both architectures."""

from __future__ import annotations

import errno
import struct

import pytest

from autograder.engine.inside.seccomp import ALLOW, FAIL, KILL_PROCESS, MACHINES, REFUSED, program

PERMISSION, NO_SUCH_CALL = FAIL | errno.EPERM, FAIL | errno.ENOSYS
READ = {"x86_64": 0, "aarch64": 63}
each_machine = pytest.mark.parametrize("machine", MACHINES)


def decide(machine: str, number: int, *arguments: int, audit: int | None = None) -> int:
    """What the filter says to a system call (the subset of BPF that it is written in)."""
    known = MACHINES[machine].audit if audit is None else audit
    padded = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("IIQ6Q", number, known, 0, *padded)
    steps = list(struct.iter_unpack("HBBI", program(machine)))
    at, accumulator = 0, 0
    while True:
        code, if_true, if_false, operand = steps[at]
        at += 1
        if code == 0x20:
            (accumulator,) = struct.unpack_from("I", data, operand)
        elif code == 0x06:
            return operand
        else:
            holds = {0x15: accumulator == operand, 0x35: accumulator >= operand, 0x45: bool(accumulator & operand)}
            at += if_true if holds[code] else if_false


@each_machine
def test_every_call_on_the_list_is_refused(machine: str) -> None:
    for numbers in REFUSED.values():
        number = numbers[MACHINES[machine].column]
        assert number is None or decide(machine, number) == PERMISSION


@each_machine
def test_ordinary_calls_are_allowed(machine: str) -> None:
    listed = {numbers[MACHINES[machine].column] for numbers in REFUSED.values()}
    special = {435, MACHINES[machine].clone, MACHINES[machine].socket, MACHINES[machine].set_option}
    allowed = [number for number in range(463) if number not in listed | special]
    assert READ[machine] in allowed
    assert {decide(machine, number) for number in allowed} == {ALLOW}


@each_machine
def test_a_socket_keeps_its_size_and_takes_every_other_option(machine: str) -> None:
    option = MACHINES[machine].set_option
    for size in (7, 8, 32, 33, 60):
        assert decide(machine, option, 3, 1, size) == FAIL  # with no error: it is done
        assert decide(machine, option, 3, 6, size) == ALLOW  # another level, TCP's own
    assert {decide(machine, option, 3, 1, other) for other in (2, 9, 13, 15)} == {ALLOW}


@each_machine
def test_a_thread_and_a_process_may_be_made_and_a_namespace_may_not(machine: str) -> None:
    clone = MACHINES[machine].clone
    assert decide(machine, clone, 0x3D0F00) == ALLOW  # what pthread_create asks for
    assert decide(machine, clone, 17) == ALLOW  # a fork
    for bit in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
        assert decide(machine, clone, bit | 17) == PERMISSION
    assert decide(machine, 435) == NO_SUCH_CALL  # clone3, whose flags a filter cannot read


@each_machine
def test_sockets_are_local_internet_or_the_list_of_interfaces(machine: str) -> None:
    socket = MACHINES[machine].socket
    assert {decide(machine, socket, family, 1, 0) for family in (1, 2, 10)} == {ALLOW}
    assert decide(machine, socket, 16, 3, 0) == ALLOW  # NETLINK_ROUTE
    assert decide(machine, socket, 16, 3, 9) == PERMISSION  # NETLINK_AUDIT
    assert {decide(machine, socket, family, 3, 0) for family in (17, 29, 38, 40, 44)} == {PERMISSION}


@each_machine
def test_what_did_not_exist_when_the_list_was_made_does_not_exist(machine: str) -> None:
    assert {decide(machine, number) for number in (463, 470, 500, 1 << 20)} == {NO_SUCH_CALL}


def test_the_same_calls_under_other_numbers_are_refused() -> None:
    assert decide("x86_64", 0x40000000 | 165) == PERMISSION  # x32's mount


def test_calls_of_another_architecture_kill() -> None:
    assert decide("x86_64", 21, audit=0x40000003) == KILL_PROCESS  # i386, where 21 is mount


def test_where_there_is_no_filter_it_says_so() -> None:
    with pytest.raises(NotImplementedError, match="no seccomp filter for riscv64; there is one for x86_64, aarch64"):
        program("riscv64")
