import { controlProblemTexts } from '../../../server/contract/control-problem-texts.ts';

/** Why the engine did not do what was asked, as it says it itself. */
export const controlProblems = controlProblemTexts;
