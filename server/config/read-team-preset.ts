import { GatewayError } from '../contract/errors.ts';
import { isObject } from '../contract/is-object.ts';
import { describeRemovedFields } from '../contract/removed-features.ts';
import { type TeamPreset, writtenTeamPresetSchema } from '../contract/team-preset.ts';
import { describeFileProblem } from '../ground/files/regular-file.ts';
import { parseConfigJson, problemsOf, summarizeProblems } from './check-config.ts';

const largestPresetBytes = 1024 * 1024;

interface ReadTeamPreset {
  preset: TeamPreset;
  /** As it stands in the file. */
  written: unknown;
  /** What it still says of removed features, one sentence for each field. */
  removed: string[];
}

/**
 * @param source its path, for messages
 * @throws GatewayError `invalid_value` that names the place and the error, but quotes nothing
 */
export function readTeamPreset(text: string, source: string): ReadTeamPreset {
  if (text.length > largestPresetBytes) throw refused(source, 'it is larger than 1 MB');
  const written = parse(text, source);
  return { preset: checkTeamPreset(written, source), written, removed: describeRemovedFields(written, source) };
}

/** The same for parsed JSON. */
export function checkTeamPreset(value: unknown, source: string): TeamPreset {
  if (isObject(value) && !('teamPreset' in value))
    throw refused(source, 'it is no team preset: "teamPreset" is missing');
  const parsed = writtenTeamPresetSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw refused(source, summarizeProblems(problemsOf(parsed.error)));
}

function parse(text: string, source: string): unknown {
  try {
    return parseConfigJson(text);
  } catch (error) {
    throw refused(source, describeFileProblem(error));
  }
}

function refused(source: string, reason: string): GatewayError {
  return new GatewayError('invalid_value', `The team preset ${source} cannot be used: ${reason}.`);
}
