/** Which provider may get what Sluice does not serve itself. Bears no schema, since it goes into the window. */

/** The group that the first key belongs to; it needs no setting for its only provider to get it. */
export const defaultGroupId = 'default';

/** Whether providers of a dialect have such paths. Each dialect has to be in here. */
export const passesThrough = {
  openai: true,
  azure: true,
  anthropic: true,
  gemini: true,
  bedrock: false,
  vertex: false,
} satisfies Record<string, boolean>;
