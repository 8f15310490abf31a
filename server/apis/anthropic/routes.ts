/** The routes of Anthropic's API. */
import { plainRoute, type Route } from '../core/route.ts';
import { messagesTokenCount } from './count-tokens.ts';
import { messages } from './messages.ts';

const post = { ...plainRoute, method: 'POST', wire: messages, model: 'required' } as const;

export const anthropicRoutes: readonly Route[] = [
  { ...post, path: '/messages', stream: messages.stream },
  {
    ...post,
    path: '/messages/count_tokens',
    wire: messagesTokenCount,
    isFree: true,
    writeTokenCount: (tokens) => ({ input_tokens: tokens }),
  },
];
