/**
 * Joins the feeds that electron-builder wrote on machines of different processors. Updaters for macOS and Windows read one
 * file for both processors and choose among its `files` by name.
 */
import { parse, stringify } from 'yaml';
import { z } from 'zod';

const file = z.looseObject({ url: z.string(), sha512: z.string(), size: z.number().optional() });
/** As electron-updater reads it. `path` and `sha512` are what its first versions took in place of `files`. */
const feedSchema = z.looseObject({
  version: z.string(),
  files: z.array(file).min(1),
  path: z.string(),
  sha512: z.string(),
  releaseDate: z.string(),
});
export type Feed = z.infer<typeof feedSchema>;

export function readFeed(text: string): Feed {
  // electron-builder writes the date in quotes; a parser of YAML 1.1 would make another type of it.
  return feedSchema.parse(parse(text));
}

/** The feed's own fields are those of the one for x64, which every updater can install. */
export function mergeFeeds(texts: readonly string[]): string {
  const feeds = texts.map(readFeed).sort((a, b) => Number(a.path.includes('arm64')) - Number(b.path.includes('arm64')));
  const [first] = feeds;
  if (first === undefined) throw new Error('There is no feed to join.');
  const versions = new Set(feeds.map(({ version }) => version));
  if (versions.size > 1) throw new Error(`The feeds are of different versions: ${[...versions].join(', ')}.`);
  const files = new Map(feeds.flatMap((feed) => feed.files.map((each) => [each.url, each])));
  return stringify({ ...first, files: [...files.values()] }, { lineWidth: 0 });
}
