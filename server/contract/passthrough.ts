/** Which provider may get what Sluice does not serve itself. Bears no schema, since it goes into the window. */
import type { DialectId } from './config.ts';

/** The group that the first key belongs to; it needs no setting for its only provider to get it. */
export const defaultGroupId = 'default';

/** Dialects of providers that know such paths of OpenAI's API. */
export const passesThrough: Readonly<Record<DialectId, boolean>> = { openai: true, azure: true };
