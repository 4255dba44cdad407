"""Dates and instants as text (RFC 3339), in the proleptic Gregorian calendar."""

import re

from .primitives import FormatError

MILLISECONDS_PER_DAY = 86_400_000
DAYS_BEFORE_MONTH = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334)
DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
INSTANT = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?"
    r"(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))"
)


def is_leap(year):
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def month_length(year, month):
    if month == 2:
        return 29 if is_leap(year) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def days_before_year(year):
    """Days from 0000-01-01 to the first of January of `year`; the year 0 is a leap year."""
    before = year - 1
    return 365 * year + before // 4 - before // 100 + before // 400 + 1


EPOCH_DAYS = days_before_year(1970)


def days_from_date(text):
    match = DATE.fullmatch(text)
    if not match:
        raise FormatError(f"not a date: {text!r}")
    year, month, day = (int(part) for part in match.groups())
    if not 1 <= month <= 12 or not 1 <= day <= month_length(year, month):
        raise FormatError(f"not a day of the calendar: {text!r}")
    leap_day = 1 if month > 2 and is_leap(year) else 0
    day_of_year = DAYS_BEFORE_MONTH[month - 1] + leap_day + day - 1
    return days_before_year(year) + day_of_year - EPOCH_DAYS


def date_from_days(days):
    days += EPOCH_DAYS
    year = days * 400 // 146097
    while days_before_year(year + 1) <= days:
        year += 1
    while days_before_year(year) > days:
        year -= 1
    rest, month = days - days_before_year(year), 1
    while rest >= month_length(year, month):
        rest -= month_length(year, month)
        month += 1
    if not 0 <= year <= 9999:
        raise FormatError(f"a date in the year {year}")
    return f"{year:04}-{month:02}-{rest + 1:02}"


def milliseconds_from_instant(text):
    """Digits beyond the third after the point are dropped (the document does not say)."""
    match = INSTANT.fullmatch(text)
    if not match:
        raise FormatError(f"not a date-time: {text!r}")
    date, hour, minute, second, fraction, sign, offset_hour, offset_minute = match.groups()
    if int(hour) > 23 or int(minute) > 59 or int(second) > 59:
        raise FormatError(f"not a time of day: {text!r}")
    seconds = days_from_date(date) * 86400 + int(hour) * 3600 + int(minute) * 60 + int(second)
    if sign:
        offset = int(offset_hour) * 3600 + int(offset_minute) * 60
        seconds += offset if sign == "-" else -offset
    return seconds * 1000 + int(((fraction or "") + "000")[:3])


def instant_from_milliseconds(milliseconds):
    days, rest = divmod(milliseconds, MILLISECONDS_PER_DAY)
    hour, rest = divmod(rest, 3_600_000)
    minute, rest = divmod(rest, 60_000)
    second, fraction = divmod(rest, 1000)
    return f"{date_from_days(days)}T{hour:02}:{minute:02}:{second:02}.{fraction:03}Z"
