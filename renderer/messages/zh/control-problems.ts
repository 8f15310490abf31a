import { controlProblemTextsZh } from '../../../server/contract/control-problem-texts-zh.ts';
import type * as english from '../en/control-problems.ts';

export const controlProblems: typeof english.controlProblems = controlProblemTextsZh;
