/**
 * Reads an object of a client's request, each field by its type; the error for an invalid field contains its path.
 * `null` counts as absent, as in all four APIs. Fields that are never read are reported as losses.
 */
import { isObject } from '../../contract/is-object.ts';
import type { LossCode } from '../../contract/loss-codes.ts';
import { boundedPattern } from '../../ground/bounded-pattern.ts';
import { readStreamFlag } from '../core/requests/deciding-fields.ts';
import { runnerOf } from '../core/requests/tool-runners.ts';
import { RawJson } from './json-text.ts';
import { invalid, type Losses, refuse } from './losses.ts';

export class Fields {
  /** Path of the object; empty for the request itself. */
  readonly at: string;
  readonly losses: Losses;
  readonly #value: Record<string, unknown>;
  readonly #readNames = new Set<string>();

  /** @throws GatewayError `invalid_value` if `value` is not an object */
  constructor(value: unknown, at: string, losses: Losses) {
    if (!isObject(value)) invalid(at || 'body', 'expected an object');
    this.#value = value;
    this.at = at;
    this.losses = losses;
  }

  /** Who runs it, if it is a tool. */
  get runner(): ReturnType<typeof runnerOf> {
    return runnerOf(this.#value);
  }

  /** The object itself, for what is passed on as a whole. */
  get whole(): Readonly<Record<string, unknown>> {
    return this.#value;
  }

  path(name: string): string {
    return this.at === '' ? name : `${this.at}.${name}`;
  }

  /** Undefined if it is absent or `null`. */
  any(name: string): unknown {
    this.#readNames.add(name);
    return this.#value[name] ?? undefined;
  }

  text(name: string): string | undefined {
    const value = this.any(name);
    if (value !== undefined && typeof value !== 'string') invalid(this.path(name), 'expected a string');
    return value;
  }

  requiredText(name: string): string {
    return this.text(name) ?? invalid(this.path(name), 'it is missing');
  }

  number(name: string): number | undefined {
    const given = this.any(name);
    const value = given instanceof RawJson ? Number(given.text) : given;
    if (value !== undefined && typeof value !== 'number') invalid(this.path(name), 'expected a number');
    return value;
  }

  boolean(name: string): boolean | undefined {
    const value = this.any(name);
    if (value !== undefined && typeof value !== 'boolean') invalid(this.path(name), 'expected true or false');
    return value;
  }

  /** The field that asks for a stream. */
  streamFlag(name: string): boolean | undefined {
    return readStreamFlag(this.any(name)) ?? this.boolean(name);
  }

  object(name: string): Record<string, unknown> | undefined {
    const value = this.any(name);
    if (value !== undefined && !isObject(value)) invalid(this.path(name), 'expected an object');
    return value;
  }

  /** The fields of a nested object. */
  fields(name: string): Fields | undefined {
    const value = this.object(name);
    return value && this.nested(value, this.path(name));
  }

  /** Reads a nested object as this one is read. */
  protected nested(value: unknown, at: string): Fields {
    return new Fields(value, at, this.losses);
  }

  list(name: string): unknown[] | undefined {
    const value = this.any(name);
    if (value !== undefined && !Array.isArray(value)) invalid(this.path(name), 'expected a list');
    return value;
  }

  /** The objects of a list, each with its own path. Empty if it is absent. */
  items(name: string): Fields[] {
    const path = this.path(name);
    return (this.list(name) ?? []).map((item, index) => this.nested(item, `${path}[${index}]`));
  }

  texts(name: string): string[] | undefined {
    return this.list(name)?.map((item, index) => {
      if (typeof item !== 'string') invalid(`${this.path(name)}[${index}]`, 'expected a string');
      return item;
    });
  }

  /** Drops the fields that are present, and reports them with `code`. */
  drop(code: LossCode, ...names: string[]): void {
    for (const name of names) if (this.any(name) !== undefined) this.losses.dropped(this.path(name), code);
  }

  /** Ignores fields that mean nothing to any other upstream, so that nothing is lost. */
  ignore(...names: string[]): void {
    for (const name of names) this.#readNames.add(name);
  }

  /** Reports the fields that have not been read. */
  dropRest(): void {
    for (const name of Object.keys(this.#value)) {
      if (this.#readNames.has(name) || this.#value[name] === null) continue;
      if (this.at === '' && carriesConversation(name, this.#value[name])) refuse(name, 'unknown-field');
      this.losses.dropped(this.path(name), 'unknown-field');
    }
  }
}

/**
 * A conversation stored elsewhere, an answer that the request continues, or messages besides the known list. Not ids of sessions
 * or users, which many clients send so that requests can be told apart.
 */
const names = boundedPattern(
  /^(?:(?:message_?)?thread(?:_?id)?|conversation(?:_?id)?|(?:previous|prior|parent|continue[ds]?|resume[ds]?)_?(?:\w{1,40}_?)?(?:id|messages?|turns?|response|interaction|from)|(?:chat_?|message_?|conversation_?)?history|cached_?contents?|assistant_?id)$/i,
);

/**
 * Recognises unknown fields of a request that probably hold or name a part of the conversation.
 *
 * Without it, the model would answer as if there were no conversation, so it must not be dropped.
 */
export function carriesConversation(name: string, value: unknown): boolean {
  const saysSomething =
    (typeof value === 'string' && value !== '') ||
    (Array.isArray(value) && value.length > 0) ||
    (isObject(value) && Object.keys(value).length > 0);
  return saysSomething && names.test(name);
}
