/**
 * No translation takes longer than the length of what it translates explains.
 *
 * @suite measured
 */
import { testWorstCases, worstTranslating } from '../../worst-cases.ts';

testWorstCases(worstTranslating);
