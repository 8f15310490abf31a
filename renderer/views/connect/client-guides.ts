import { agentGuides } from './agent-guides.ts';
import { appGuides } from './app-guides.ts';
import type { ClientGuide } from './client-guide.ts';
import { codingGuides } from './coding-guides.ts';
import { programGuides } from './program-guides.ts';

/** Every client that the window explains. */
export const clientGuides: readonly ClientGuide[] = [...programGuides, ...agentGuides, ...codingGuides, ...appGuides];
