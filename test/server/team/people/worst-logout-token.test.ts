/**
 * The time of reading a logout token grows linearly with it.
 *
 * @suite measured
 */
import { createLogoutCheck } from '../../../../server/team/people/logout-token.ts';
import { testedWithTeam, testWorstCases } from '../../worst-cases.ts';

testWorstCases({
  'a logout token': {
    // The most that its route takes.
    atOnceBytes: 8 * 1024,
    readers: testedWithTeam,
    inputs: {
      'parts without end': ['', '.', ''],
      'a nested header': (bytes) => `${Buffer.from('['.repeat(bytes * 0.75)).toString('base64url')}.a.b`,
      'a long algorithm': (bytes) =>
        `${Buffer.from(`{"alg":"${'x'.repeat(bytes * 0.75)}"}`).toString('base64url')}.a.b`,
    },
    run: (bytes) =>
      createLogoutCheck(async () => ({ keys: [] }))(bytes.toString(), { issuer: '', audience: '', nowMs: 0 }).catch(
        (error: unknown) => error,
      ),
  },
});
