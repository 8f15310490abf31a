/** Which provider may get what Sluice does not serve itself. Bears no schema, since it goes into the window. */

/** The group that the first key belongs to; it needs no setting for its only provider to get it. */
export const defaultGroupId = 'default';

/** Whether providers of a dialect have passthrough paths. Every dialect must be listed. */
export const passesThrough = { openai: true, azure: true, anthropic: true, gemini: true } satisfies Record<
  string,
  boolean
>;
