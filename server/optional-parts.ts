/**
 * The parts that Sluice can be built without. Only this file names them, and only the two entries of the program import
 * it: to build without a part, delete its folder and its line.
 */
import type { TeamCommands } from './cli/team.ts';
import type { TeamPart } from './engine/team.ts';

interface OptionalParts {
  team?: () => Promise<TeamPart & TeamCommands>;
}

export const optionalParts: OptionalParts = {
  team: () => import('./team/team-part.ts'),
};
