/** A field for a date with a time in the local time zone, to type or to pick in a calendar. */

import {
  getLocalTimeZone,
  parseAbsoluteToLocal,
  toCalendarDateTime,
  type CalendarDateTime,
} from '@internationalized/date';
import { useState } from 'react';
import {
  Button as AriaButton,
  Calendar,
  CalendarCell,
  CalendarGrid,
  DateInput,
  DatePicker,
  DateSegment,
  Dialog,
  Group,
  Heading,
  I18nProvider,
  Label,
  Popover,
  type DateSegmentRenderProps,
} from 'react-aria-components';
import { Icon } from './icons.tsx';
import { formatMonth, locale } from './time.tsx';
import './date-time-field.css';

interface DateTimeFieldProps {
  readonly label: string;
  /** An instant in ISO format. */
  readonly at: string | undefined;
  readonly onChange: (at: string | undefined) => void;
}

/** Typed values apply on blur or Enter, because a partly typed year is a valid year as well. */
export function DateTimeField({ label, at, onChange }: DateTimeFieldProps) {
  const [draft, setDraft] = useState(() => toLocal(at));
  const [lastAt, setLastAt] = useState(at);
  const [isOpen, setOpen] = useState(false);
  if (at !== lastAt) {
    setLastAt(at);
    setDraft(toLocal(at));
  }
  const apply = (value: CalendarDateTime | null) => {
    const next = value?.toDate(getLocalTimeZone()).toISOString();
    if (next !== at) onChange(next);
  };
  const change = (value: CalendarDateTime | null) => {
    setDraft(value);
    if (isOpen) apply(value);
  };
  return (
    <I18nProvider locale={locale}>
      <DatePicker
        className="field"
        granularity="minute"
        hourCycle={24}
        shouldForceLeadingZeros
        value={draft}
        onChange={change}
        isOpen={isOpen}
        onOpenChange={setOpen}
        onBlur={() => apply(draft)}
        // Uses `keyup`, because the parts of the field stop `keydown` from bubbling.
        onKeyUp={({ key }) => key === 'Enter' && apply(draft)}
      >
        <Label>{label}</Label>
        <Group className="input date-time">
          <DateInput className="date-time-parts">
            {(segment) => <DateSegment segment={segment}>{displaySegment}</DateSegment>}
          </DateInput>
          <AriaButton className="icon-button quiet">
            <Icon name="calendar" />
          </AriaButton>
        </Group>
        <Popover className="popover">
          <Dialog className="calendar">
            <Calendar>
              <header className="calendar-header">
                <AriaButton slot="previous" className="icon-button quiet">
                  <Icon name="back" />
                </AriaButton>
                <Heading />
                <AriaButton slot="next" className="icon-button quiet">
                  <Icon name="chevron" />
                </AriaButton>
              </header>
              <CalendarGrid>{(date) => <CalendarCell date={date} className="calendar-day" />}</CalendarGrid>
            </Calendar>
          </Dialog>
        </Popover>
      </DatePicker>
    </I18nProvider>
  );
}

function toLocal(at: string | undefined): CalendarDateTime | null {
  return at === undefined ? null : toCalendarDateTime(parseAbsoluteToLocal(at));
}

/** In the format of all dates of the console, for example "15 Nov 2026, 14:02". */
function displaySegment({ type, text, isPlaceholder }: DateSegmentRenderProps): string {
  if (type === 'literal') return text.replace('/', ' ');
  if (isPlaceholder) return text;
  if (type === 'day') return `${Number(text)}`;
  return type === 'month' ? formatMonth(Number(text)) : text;
}
