/**
 * Tries each capability through the gateway, as a client with a key would. Uses only the public API, nothing internal
 * to the engine.
 */
import { type ComponentType, useEffect, useRef } from 'react';
import { Link, useLocation } from 'wouter';
import { EmptyNote, GoneNote } from '../../components/feedback/EmptyNote.tsx';
import { Screen } from '../../components/layout/Screen.tsx';
import type { Messages } from '../../messages/en/en.ts';
import { useMessages } from '../../messages/use-messages.ts';
import { type KeyChoice, useKeyChoice } from '../../state/choices/use-key-choice.ts';
import { ChatPanel } from './chat/ChatPanel.tsx';
import { useSentRequest } from './chat/use-chat.ts';
import classes from './Playground.module.css';
import { CompletionsPanel } from './panels/CompletionsPanel.tsx';
import { EmbeddingsPanel } from './panels/EmbeddingsPanel.tsx';
import { ImagesPanel } from './panels/ImagesPanel.tsx';
import { ModerationsPanel } from './panels/ModerationsPanel.tsx';
import { ResponsesPanel } from './panels/ResponsesPanel.tsx';
import { SpeechPanel } from './panels/SpeechPanel.tsx';
import { TranscriptionPanel } from './panels/TranscriptionPanel.tsx';
import { VideoPanel } from './panels/VideoPanel.tsx';

type PanelName = keyof Messages['playground']['panels'];

const panels: readonly { name: PanelName; Component: ComponentType<{ keyChoice: KeyChoice }> }[] = [
  { name: 'chat', Component: ChatPanel },
  { name: 'responses', Component: ResponsesPanel },
  { name: 'completions', Component: CompletionsPanel },
  { name: 'embeddings', Component: EmbeddingsPanel },
  { name: 'moderations', Component: ModerationsPanel },
  { name: 'images', Component: ImagesPanel },
  { name: 'speech', Component: SpeechPanel },
  { name: 'transcription', Component: TranscriptionPanel },
  { name: 'videos', Component: VideoPanel },
];

export function Playground() {
  const { playground: names, noPage } = useMessages();
  const keyChoice = useKeyChoice();
  const [path] = useLocation();
  const opened = useSentRequest();
  const [, , asked = 'chat'] = path.split('/');
  const panel = panels.find(({ name }) => name === asked);
  const currentTab = useRef<HTMLAnchorElement>(null);
  const panelName = panel?.name;
  // In a narrow window the tabs scroll sideways.
  useEffect(() => {
    if (panelName) currentTab.current?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [panelName]);
  return (
    <Screen
      name="playground"
      fills
      action={
        <nav className={classes.tabs} aria-label={names.capabilities}>
          {panels.map(({ name }) => (
            <Link
              key={name}
              ref={name === panelName ? currentTab : undefined}
              className={classes.tab}
              href={`/playground/${name}`}
              aria-current={name === panelName ? 'true' : undefined}
            >
              {names.panels[name]}
            </Link>
          ))}
        </nav>
      }
    >
      {keyChoice.isNone && (
        <EmptyNote title={names.noKeyTitle} next={names.noKeyNext}>
          <Link href="/keys">{names.toKeys}</Link>
        </EmptyNote>
      )}
      {opened && (
        <p className={classes.soft} role="status">
          {opened.state === 'opened' ? names.fromRequest(opened.id, opened.api) : names.fromNothing[opened.state]}
          {opened.state === 'opened' && opened.omitted.length > 0 && ` ${names.leftOut(opened.omitted.join(', '))}`}
        </p>
      )}
      {panel ? (
        <panel.Component key={panel.name} keyChoice={keyChoice} />
      ) : (
        <GoneNote text={noPage.capability(asked)} />
      )}
    </Screen>
  );
}
