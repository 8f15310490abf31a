/** The built-in lists of rules. */
import type { FaultProfileName } from '../contract/faults.ts';

interface FaultProfile {
  /** Text for a person. */
  does: string;
  rules: readonly string[];
}

export const faultProfiles: Readonly<Record<FaultProfileName, FaultProfile>> = {
  rough: {
    does: 'a bad day: about every second request meets something',
    rules: [
      'rate-limit;retry-after=1;share=0.08',
      'status;code=500;share=0.05',
      'status;code=503;share=0.05',
      'reset;share=0.04',
      'cut;after=5;share=0.06',
      'stall;after=5;seconds=20;share=0.03',
      'malformed-event;after=3;share=0.04',
      'late-head;ms=4000;share=0.08',
      'late-event;ms=3000;share=0.08',
      'pace;tokens-per-second=15;share=0.15',
    ],
  },
  'rate-limited': {
    does: 'two of five requests get 429, half of them with a wait that is told',
    rules: ['rate-limit;retry-after=1;every=5', 'rate-limit;share=0.25'],
  },
  outage: {
    does: 'no request is answered: 503, 502 or a connection that is reset',
    rules: ['status;code=503;share=0.5', 'status;code=502;share=0.5', 'reset'],
  },
  slow: {
    does: 'answers begin late and come slowly',
    rules: ['late-head;ms=3000;share=0.3', 'late-event;ms=6000;share=0.4', 'pace;tokens-per-second=10'],
  },
  'flaky-streams': {
    does: 'every second stream is cut, stalls, or is damaged',
    rules: [
      'cut;after=4;share=0.12',
      'cut;inside=character;share=0.06',
      'stall;after=4;seconds=20;share=0.06',
      'malformed-event;after=2;share=0.08',
      'duplicate-events;each=3;share=0.08',
      'error-event;after=4;share=0.1',
      'missing-end;share=0.12',
    ],
  },
};
