import { controlProblemTexts } from '../../../server/contract/control-problem-texts.ts';

/** Reasons why the engine refused a command, in the contract's own words. */
export const controlProblems = controlProblemTexts;
