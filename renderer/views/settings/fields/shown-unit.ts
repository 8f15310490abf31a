/** The units in which the window shows numbers, and the bounds of a field in words. */
import type { NumberShape } from '../../../../server/contract/setting-shape.ts';
import { type FieldPath, type SettingUnit, settingEntry } from '../../../../server/contract/settings-table.ts';
import { kibibyte, mebibyte, secondMs } from '../../../../server/contract/units.ts';
import type { Messages } from '../../../messages/en/en.ts';
import type { Localization } from '../../../messages/use-messages.ts';

interface ShownUnit {
  unit: keyof Messages['settings']['units'] | null;
  /** The stored value of 1. */
  scale: number;
}

const shownUnits: Record<SettingUnit, ShownUnit> = {
  milliseconds: { unit: 'seconds', scale: secondMs },
  hours: { unit: 'hours', scale: 1 },
  days: { unit: 'days', scale: 1 },
  bytes: { unit: 'mebibytes', scale: mebibyte },
  requests: { unit: 'requests', scale: 1 },
  usd: { unit: 'dollars', scale: 1 },
  number: { unit: null, scale: 1 },
};

/** Most captured bodies are far smaller than a MiB. */
const exceptions: Partial<Record<FieldPath, ShownUnit>> = {
  'capture.maxBytes': { unit: 'kibibytes', scale: kibibyte },
};

export function shownUnit(path: FieldPath): ShownUnit {
  return exceptions[path] ?? shownUnits[settingEntry(path).unit ?? 'number'];
}

/** Smaller bounds are not worth their digits. */
const leastShown = 0.001;

/** What to enter, for a person who entered something else. */
export function describeBounds(
  { isWhole, min, above, max, isOptional }: NumberShape,
  scale: number,
  { messages, formats }: Localization,
): string {
  const { bounds } = messages.settings;
  if (isOptional) return bounds.amountOrEmpty;
  const number = isWhole && scale === 1 ? bounds.whole : bounds.any;
  const least = min === null ? above : min / scale;
  if (least === null) return number;
  const isAbove = min === null || (least > 0 && least < leastShown);
  const from = isAbove ? bounds.above(formats.number(min === null ? least : 0)) : bounds.from(formats.number(least));
  return max === null ? bounds.only(number, from) : bounds.upTo(number, from, formats.number(max / scale));
}
