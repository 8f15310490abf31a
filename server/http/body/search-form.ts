/** Finds the ids of stored objects in forms: `multipart/form-data`, whole or in pieces, and `a=b&c=d`. */
import { IdSearch, idsIn, idsInParameters, objectMembers } from '../../apis/core/requests/object-members.ts';
import { ambiguousForm, type Delimiter, DelimiterScan, readPart } from './form-guard.ts';

/** What looks for ids in a body that arrives in pieces. Throws a GatewayError or JsonFault for what it cannot read. */
export interface BodySearch {
  /** Those that this piece makes known. */
  take(chunk: Buffer): readonly string[];
  /** Those that are known because nothing follows. */
  end(): readonly string[];
}

/** Longer values are no ids. */
const maxValueBytes = 2_048;
const ampersand = 0x26;
const byteOrderMark = Buffer.from('\ufeff');
const nothing = Buffer.alloc(0);
const none: readonly string[] = [];

/** In the fields of a form that was read. */
export function idsInFields(fields: Record<string, string | string[]>): readonly string[] {
  return Object.entries(fields).flatMap(([name, values]) =>
    [values].flat().flatMap((value) => {
      const search = new FieldSearch(name);
      return [...search.take(Buffer.from(value)), ...search.end(value.length)];
    }),
  );
}

/** A form in pieces, each of which may hold parts of several fields. */
export class FormSearch implements BodySearch {
  readonly #scan: DelimiterScan;
  #offset = 0;
  /** The current part, and where its value goes on. */
  #field: FieldSearch | null = null;
  #from = 0;
  #partStart = 0;

  constructor(boundary: string) {
    this.#scan = new DelimiterScan(boundary, 0);
  }

  take(chunk: Buffer): readonly string[] {
    const found: string[] = [];
    const [start, end] = [this.#offset, this.#offset + chunk.length];
    this.#offset = end;
    const pass = (until: number) => {
      const value = chunk.subarray(Math.max(0, this.#from - start), Math.max(0, until - start));
      if (this.#field) found.push(...this.#field.take(value));
      this.#from = Math.max(this.#from, until);
    };
    for (const delimiter of this.#scan.push(chunk)) {
      pass(delimiter.at);
      found.push(...this.#begin(delimiter));
    }
    pass(end);
    return found;
  }

  end(): readonly string[] {
    return this.#endField(this.#offset);
  }

  #begin({ at, kind, headers, valueStart }: Delimiter): readonly string[] {
    if (kind === 'stray') throw ambiguousForm('its boundary stands where no part begins or ends');
    const ended = this.#endField(at);
    this.#field = kind === 'part' ? fieldOf(headers) : null;
    this.#from = valueStart;
    this.#partStart = valueStart;
    return ended;
  }

  #endField(at: number): readonly string[] {
    return this.#field?.end(at - this.#partStart) ?? none;
  }
}

function fieldOf(headers: string): FieldSearch {
  const { name, isEncoded } = readPart(headers);
  if (isEncoded && objectMembers.ofParameter(name) !== 0) throw ambiguousForm('a part that names an object is encoded');
  return new FieldSearch(name);
}

/** One field: an id by its name, or a document, as the lines of a batch are. */
class FieldSearch {
  readonly #meaning: number;
  readonly #json = new DocumentSearch({ isStrict: false });
  #value: Buffer = nothing;

  constructor(name: string) {
    this.#meaning = objectMembers.ofParameter(name);
  }

  take(bytes: Buffer): readonly string[] {
    if (this.#meaning !== 0 && this.#value.length < maxValueBytes) {
      this.#value = Buffer.concat([this.#value, bytes.subarray(0, maxValueBytes)]);
    }
    return this.#json.take(bytes);
  }

  /** The value has this length; what was taken may have gone on with a part of the delimiter. */
  end(length: number): readonly string[] {
    return length > maxValueBytes ? none : idsIn(this.#value.toString('utf8', 0, length), this.#meaning);
  }
}

/** Documents of JSON, if it begins like one: anything else is passed over. */
export class DocumentSearch implements BodySearch {
  readonly #isStrict: boolean;
  #search: IdSearch | 'none' | null = null;

  constructor({ isStrict }: { isStrict: boolean }) {
    this.#isStrict = isStrict;
  }

  take(chunk: Buffer): readonly string[] {
    this.#search ??= this.#begin(chunk);
    return this.#search === null || this.#search === 'none' ? none : this.#search.take(chunk);
  }

  end(): readonly string[] {
    return none;
  }

  /** Null if these are blanks. */
  #begin(chunk: Buffer): IdSearch | 'none' | null {
    const beginning = chunk.find((byte) => byte > 0x20 && !byteOrderMark.includes(byte));
    if (beginning === undefined) return null;
    const isDocument = this.#isStrict || beginning === 0x7b || beginning === 0x5b;
    return isDocument ? new IdSearch(objectMembers, { isStrict: this.#isStrict }) : 'none';
  }
}

/** `file_id=file-1&purpose=batch`. */
export class ParameterSearch implements BodySearch {
  #rest: Buffer = nothing;

  take(chunk: Buffer): readonly string[] {
    const bytes = Buffer.concat([this.#rest, chunk]);
    const end = bytes.lastIndexOf(ampersand);
    // Of a longer one, the end is no id of any length.
    this.#rest = Buffer.from(bytes.subarray(Math.max(end + 1, bytes.length - maxValueBytes * 2)));
    return idsInParameters(bytes.toString('utf8', 0, Math.max(0, end)));
  }

  end(): readonly string[] {
    return idsInParameters(this.#rest.toString());
  }
}
