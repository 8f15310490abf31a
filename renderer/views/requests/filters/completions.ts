/** What may be written next where a filter is written. Pure. */
import {
  conditionText,
  type FilterCondition,
  type FilterField,
  filterExamples,
  filterFields,
} from '../../../../server/contract/request-filter.ts';

export interface Completion {
  /** What stands there then: a field with its colon, or a whole condition. */
  written: string;
  isWhole: boolean;
  /** What it means; empty if that is what is written. */
  label: string;
  /** What may be written after a field whose values are not listed. */
  example: string | null;
  /** How many characters at the end of the text it replaces. */
  replaces: number;
}

/** The known values of the fields, and what people call them. */
export class FilterValues {
  readonly #options: Partial<Record<FilterField, readonly { value: string; label: string }[]>>;
  readonly #labels: Record<FilterField, string>;

  constructor(
    options: Partial<Record<FilterField, readonly { value: string; label: string }[]>>,
    labels: Record<FilterField, string>,
  ) {
    this.#options = options;
    this.#labels = labels;
  }

  labelOf(field: FilterField): string {
    return this.#labels[field];
  }

  of(field: FilterField): readonly { value: string; label: string }[] {
    return this.#options[field] ?? [];
  }

  /** The condition with the id of what it names by its name. */
  named({ field, value }: FilterCondition): FilterCondition {
    const options = this.of(field);
    if (options.some((option) => option.value === value)) return { field, value };
    const named = options.find(({ label }) => label.toLowerCase() === value.toLowerCase());
    return { field, value: named?.value ?? value };
  }
}

const mostShown = 30;

export function completionsOf(text: string, values: FilterValues): Completion[] {
  const field = openFieldIn(text);
  return field === null ? fieldCompletions(text, values) : valueCompletions(field, values);
}

/** The beginning of a condition at the end of a text: its field and as much of the value as is written. Null if there is none. */
export function openFieldIn(text: string): string | null {
  const open = /(?:^|\s)([a-z-]{1,20}:(?:"[^"]{0,200}|[^\s"]{0,200}))$/.exec(text)?.[1] ?? null;
  const name = open?.slice(0, open.indexOf(':'));
  return filterFields.some((each) => each === name) ? open : null;
}

function fieldCompletions(text: string, values: FilterValues): Completion[] {
  const begun = /(?:^|\s)([a-z-]{1,20})$/.exec(text)?.[1];
  if (begun === undefined) return [];
  return filterFields
    .filter((field) => field.startsWith(begun))
    .map((field) => ({
      written: `${field}:`,
      isWhole: false,
      label: values.labelOf(field),
      example: filterExamples[field] ?? null,
      replaces: begun.length,
    }));
}

function valueCompletions(open: string, values: FilterValues): Completion[] {
  const [name = '', begun = ''] = [open.slice(0, open.indexOf(':')), open.slice(open.indexOf(':') + 1)];
  const field = filterFields.find((each) => each === name);
  if (field === undefined) return [];
  const sought = begun.replace(/^"/, '').toLowerCase();
  return values
    .of(field)
    .filter(({ value, label }) => value.toLowerCase().includes(sought) || label.toLowerCase().includes(sought))
    .slice(0, mostShown)
    .map(({ value, label }) => ({
      written: conditionText({ field, value }),
      isWhole: true,
      label: label === value ? '' : label,
      example: null,
      replaces: open.length,
    }));
}
