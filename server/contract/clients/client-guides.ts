import { agentGuides } from './agent-guides.ts';
import { appGuides } from './app-guides.ts';
import type { ClientGuide, Connection, GuideStep } from './client-guide.ts';
import { editorGuides } from './editor-guides.ts';
import { frameworkGuides } from './framework-guides.ts';
import { programGuides } from './program-guides.ts';

/** All clients that the window and the command line explain. */
export const clientGuides: readonly ClientGuide[] = [
  ...programGuides,
  ...frameworkGuides,
  ...agentGuides,
  ...editorGuides,
  ...appGuides,
];

/** The guide's steps, followed by a note on the endpoints that the client uses. */
export function stepsOf(guide: ClientGuide, connection: Connection): readonly GuideStep[] {
  const steps = guide.steps(connection);
  if (guide.endpoints === null) return steps;
  const [endpoint, other] = guide.endpoints;
  if (other !== undefined) return [...steps, { say: { code: 'uses-both', endpoint, other } }];
  const code = endpoint === '/v1/chat/completions' ? 'uses-chat' : 'uses-other';
  return [...steps, { say: { code, endpoint } }];
}
