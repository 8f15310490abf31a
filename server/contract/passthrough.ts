/**
 * Which provider may receive the requests that Sluice does not serve itself. Does not import zod, because the window
 * imports it.
 */

/** The group of the first key. Its only provider receives these requests without a setting. */
export const defaultGroupId = 'default';

/** Whether providers of a dialect have such paths. Every dialect must be listed. */
export const passesThrough = {
  openai: true,
  azure: true,
  anthropic: true,
  gemini: true,
  bedrock: false,
  vertex: false,
} satisfies Record<string, boolean>;
