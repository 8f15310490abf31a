/**
 * Reads Google's requests as its services do, whose JSON is that of protobuf: a single value may stand for a list of one, a
 * number for its digits, and a constant may be written in lower case. Sources: Protocol Buffers, "ProtoJSON format"; requests
 * that Google's own examples send.
 */
import { boundedPattern } from '../../../ground/bounded-pattern.ts';
import { Fields } from '../../neutral/fields.ts';

export class ProtoFields extends Fields {
  protected override nested(value: unknown, at: string): Fields {
    return new ProtoFields(value, at, this.losses);
  }

  override list(name: string): unknown[] | undefined {
    const value = this.any(name);
    return value === undefined || Array.isArray(value) ? value : [value];
  }

  override number(name: string): number | undefined {
    return numberIn(this.any(name)) ?? super.number(name);
  }
}

const digits = boundedPattern(/^-?\d{1,20}(?:\.\d{1,20})?(?:[eE][+-]?\d{1,3})?$/);

/** The number that a text of digits stands for; undefined for anything else. */
export function numberIn(value: unknown): number | undefined {
  return typeof value === 'string' && digits.test(value) ? Number(value) : undefined;
}
