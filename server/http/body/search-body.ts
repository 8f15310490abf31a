/** Searches bodies that Sluice does not read otherwise for the ids of stored objects, by their content type and their first byte. */
import { JsonFault } from '../../apis/json/json-tokens.ts';
import { GatewayError } from '../../contract/errors.ts';
import { boundedPattern } from '../../ground/bounded-pattern.ts';
import { yieldToEventLoop } from '../../ground/yield-to-event-loop.ts';
import { checkContentType } from './check-content-type.ts';
import { headerParameters } from './header-parameters.ts';
import { type BodySearch, DocumentSearch, FormSearch, ParameterSearch } from './search-form.ts';

const jsonType = boundedPattern(/^\s{0,100}application\/(?:[\w.+-]{1,100}\+)?json\b/i);
const formType = boundedPattern(/^\s{0,100}multipart\//i);
const parameterType = boundedPattern(/^\s{0,100}application\/x-www-form-urlencoded\b/i);
const sliceBytes = 128 * 1024;

/** Its methods throw a GatewayError for what parsers may read differently. */
export function searchOf(contentType: string): BodySearch {
  checkContentType(contentType);
  const search = chooseSearch(contentType);
  return {
    take: (chunk) => readable(() => search.take(chunk)),
    end: () => readable(() => search.end()),
  };
}

function chooseSearch(contentType: string): BodySearch {
  if (jsonType.test(contentType)) return new DocumentSearch({ isStrict: true });
  const boundary = headerParameters(contentType).values.get('boundary');
  if (formType.test(contentType) && boundary) return new FormSearch(boundary);
  // `curl -d` says so of JSON, too.
  return parameterType.test(contentType) ? new EitherSearch() : new DocumentSearch({ isStrict: false });
}

class EitherSearch implements BodySearch {
  readonly #searches = [new DocumentSearch({ isStrict: false }), new ParameterSearch()];

  take(chunk: Buffer): readonly string[] {
    return this.#searches.flatMap((search) => search.take(chunk));
  }

  end(): readonly string[] {
    return this.#searches.flatMap((search) => search.end());
  }
}

/** The ids in a whole body, which is searched in slices. */
export async function idsInBytes(bytes: Buffer, contentType: string): Promise<readonly string[]> {
  const search = searchOf(contentType);
  const ids: string[] = [];
  for (let from = 0; from < bytes.length; from += sliceBytes) {
    if (from > 0) await yieldToEventLoop();
    for (const id of search.take(bytes.subarray(from, from + sliceBytes))) ids.push(id);
  }
  return [...ids, ...search.end()];
}

function readable<T>(search: () => T): T {
  try {
    return search();
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    const message = `The body of this request is no JSON: ${error.message} at byte ${error.offset}. Sluice passes JSON on only if it can tell which objects it names.`;
    throw new GatewayError('malformed_json', message, { cause: error });
  }
}
