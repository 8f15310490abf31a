import type { Budget } from '../contract/config.ts';

/** Unix milliseconds; `endMs` is exclusive. Both are infinite for `total`. */
export interface Period {
  startMs: number;
  endMs: number;
}

/** The day, week (from Monday) or month of a time, in local time: a day may have 23 or 25 hours. */
export function periodOf(per: Budget['per'], atMs: number): Period {
  const at = new Date(atMs);
  const [year, month, day] = [at.getFullYear(), at.getMonth(), at.getDate()];
  const midnight = (ofMonth: number, ofDay: number) => new Date(year, ofMonth, ofDay).getTime();
  switch (per) {
    case 'day':
      return { startMs: midnight(month, day), endMs: midnight(month, day + 1) };
    case 'week': {
      const monday = day - ((at.getDay() + 6) % 7);
      return { startMs: midnight(month, monday), endMs: midnight(month, monday + 7) };
    }
    case 'month':
      return { startMs: midnight(month, 1), endMs: midnight(month + 1, 1) };
    case 'total':
      return { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY };
  }
}
