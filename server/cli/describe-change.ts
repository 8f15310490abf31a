/** Formats the differences between two configurations for the terminal. */
import type { ConfigChange } from '../contract/change-views.ts';

/** One line for the part and one for each changed field. */
export function describeChange({ part, name, kind, fields }: ConfigChange): string[] {
  const isSetting = part === 'setting';
  const lines = fields.map(({ name: field, before, after }) => {
    const values = before === null ? (after ?? '(none)') : `${before} -> ${after ?? '(none)'}`;
    return `    ${isSetting ? '' : `${field}: `}${values}`;
  });
  return [`  ${kind} ${part} ${name}`, ...lines];
}

/** An empty line, the title and the items; nothing if there are none. */
export function listed(title: string, items: readonly string[]): string[] {
  return items.length === 0 ? [] : ['', title, ...items.map((item) => `  ${item}`)];
}
