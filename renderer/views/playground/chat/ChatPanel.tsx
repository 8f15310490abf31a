import { Button, Textarea } from '@mantine/core';
import { IconColumns2, IconColumnsOff } from '@tabler/icons-react';
import type { KeyboardEvent } from 'react';
import { ModelField } from '../../../components/selects/ModelField.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import type { KeyChoice } from '../../../state/choices/use-key-choice.ts';
import { useModelChoice } from '../../../state/choices/use-model-choice.ts';
import { isComposing } from '../../../state/window/shortcuts.ts';
import { FilePicker } from '../call/FilePicker.tsx';
import { PlaygroundPanel } from '../call/PlaygroundPanel.tsx';
import { SamplingFields } from '../call/SamplingFields.tsx';
import classes from '../Playground.module.css';
import { ConversationView } from './ConversationView.tsx';
import { useChat } from './use-chat.ts';

/** A streamed conversation, optionally with tools, an image, or two models side by side. */
export function ChatPanel({ keyChoice }: { keyChoice: KeyChoice }) {
  const { playground: names } = useMessages();
  const models = useModelChoice(keyChoice.key?.id ?? null, 'chat');
  const session = useChat(keyChoice, models.model);
  const { chat, change, runners } = session;
  const [first = []] = chat.lanes;
  const isPair = chat.lanes.length > 1;
  const wantsResult = (first.at(-1)?.toolCalls.length ?? 0) > 0;
  const sendOnEnter = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || isComposing(event.nativeEvent)) return;
    event.preventDefault();
    if (!session.isIncomplete && !session.isRunning && runners[0].canRun && models.model) void session.send();
  };
  return (
    <PlaygroundPanel
      title={names.panels.chat}
      keyChoice={keyChoice}
      models={models}
      runner={runners[0]}
      failures={session.failures}
      isBusy={session.isRunning}
      isIncomplete={session.isIncomplete}
      onSend={() => void session.send()}
      onStop={session.stop}
      choices={
        isPair && (
          <ModelField
            label={names.secondModel}
            choice={{ ...models, model: chat.secondModel, choose: (secondModel) => change({ secondModel }) }}
          />
        )
      }
      actions={
        <>
          <FilePicker
            label={names.attachImage}
            accept="image/*"
            file={chat.image}
            onPick={(image) => change({ image })}
          />
          <Button
            size="xs"
            variant="default"
            leftSection={isPair ? <IconColumnsOff size={14} /> : <IconColumns2 size={14} />}
            disabled={session.isRunning}
            onClick={() => change({ lanes: isPair ? [first] : [first, first] })}
          >
            {isPair ? names.compareEnd : names.compare}
          </Button>
          {first.length > 0 && !session.isRunning && (
            <Button size="xs" variant="default" onClick={() => change({ lanes: chat.lanes.map(() => []) })}>
              {names.clear}
            </Button>
          )}
        </>
      }
      result={
        <div className={isPair ? classes.pair : undefined}>
          {chat.lanes.map((turns, lane) => (
            <ConversationView
              // A lane is identified only by its position.
              key={lane === 0 ? 'first' : 'second'}
              turns={turns}
              isRunning={(lane === 0 ? runners[0] : runners[1]).isRunning}
            />
          ))}
        </div>
      }
      options={
        <>
          <Textarea
            label={names.system}
            value={chat.system}
            onChange={(event) => change({ system: event.currentTarget.value })}
            autosize
            minRows={1}
            maxRows={6}
          />
          <SamplingFields draft={chat.sampling} onChange={(sampling) => change({ sampling })} />
          <Textarea
            label={names.tools}
            description={names.toolsHint}
            value={chat.tools}
            onChange={(event) => change({ tools: event.currentTarget.value })}
            error={session.areToolsWrong && names.toolsWrong}
            spellCheck={false}
            autosize
            minRows={1}
            maxRows={10}
          />
        </>
      }
    >
      <Textarea
        label={wantsResult ? names.toolResult : names.message}
        description={names.messageHint}
        value={chat.text}
        onChange={(event) => change({ text: event.currentTarget.value })}
        onKeyDown={sendOnEnter}
        autosize
        minRows={2}
        maxRows={8}
      />
    </PlaygroundPanel>
  );
}
