/**
 * A request's parameters, from JSON or from a form. Wrong types are refused with OpenAI's errors; `null` means absent,
 * as in OpenAI's API. In a form all values are text, so numbers and booleans are parsed from it.
 */
import { isObject } from '../contract/is-object.ts';
import { invalidType, invalidValue, missingParameter } from './demo-error.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

interface Range {
  min: number;
  max: number;
}

export class Parameters {
  readonly #values: JsonObject;
  readonly #isForm: boolean;

  constructor(values: JsonObject, isForm = false) {
    this.#values = values;
    this.#isForm = isForm;
  }

  /** The value as sent; `undefined` for null. */
  raw(name: string): unknown {
    return this.#values[name] ?? undefined;
  }

  string(name: string): string | undefined {
    const value = this.raw(name);
    if (value === undefined || typeof value === 'string') return value;
    throw invalidType(name, 'a string');
  }

  requiredString(name: string): string {
    const value = this.string(name);
    if (value === undefined) throw missingParameter(name);
    return value;
  }

  integer(name: string, range: Range): number | undefined {
    const raw = this.raw(name);
    if (raw === undefined) return undefined;
    const value = this.#isForm && typeof raw === 'string' && raw.trim() !== '' ? Number(raw) : raw;
    if (typeof value !== 'number' || !Number.isInteger(value)) throw invalidType(name, 'an integer');
    if (value < range.min || value > range.max) throw invalidValue(name, `use ${range.min} to ${range.max}`);
    return value;
  }

  boolean(name: string): boolean {
    const value = this.raw(name);
    if (value === undefined || value === false || (this.#isForm && value === 'false')) return false;
    if (value === true || (this.#isForm && value === 'true')) return true;
    throw invalidType(name, 'a boolean');
  }

  oneOf<Choice extends string>(name: string, choices: readonly Choice[]): Choice | undefined {
    const value = this.string(name);
    if (value === undefined) return undefined;
    const choice = choices.find((candidate) => candidate === value);
    if (choice === undefined) throw invalidValue(name, `the demo provider supports ${choices.join(', ')}`);
    return choice;
  }

  object(name: string): JsonObject | undefined {
    const value = this.raw(name);
    if (value === undefined || isObject(value)) return value;
    throw invalidType(name, 'an object');
  }

  /** A list; in a form, a single part is a list of one. */
  list(name: string): readonly unknown[] {
    const value = this.raw(name);
    if (value === undefined) return [];
    if (Array.isArray(value)) return value;
    if (this.#isForm) return [value];
    throw invalidType(name, 'an array');
  }

  /** The uploaded files with this name. Throws if any value is not a file. */
  files(name: string): readonly File[] {
    return this.list(name).map((value) => {
      if (value instanceof File) return value;
      throw invalidType(name, 'a file');
    });
  }

  requiredFile(name: string): File {
    const file = this.files(name)[0];
    if (!file) throw missingParameter(name);
    return file;
  }
}
