import { Button, Textarea } from '@mantine/core';
import { type KeyboardEvent, useState } from 'react';
import { ModelField } from '../../components/ModelField.tsx';
import { useMessages } from '../../messages/use-messages.ts';
import type { KeyChoice } from '../../state/use-key-choice.ts';
import { useModelChoice } from '../../state/use-model-choice.ts';
import { Bench } from './Bench.tsx';
import { ConversationView } from './ConversationView.tsx';
import { beginAnswer, type Turn, toMessages, withChunk, withSaid } from './conversation.ts';
import { createDataLineReader } from './data-lines.ts';
import { FilePick } from './FilePick.tsx';
import { parseJson } from './json-path.ts';
import { readAsDataUrl } from './read-file.ts';
import { useExchange } from './use-exchange.ts';

/** A conversation, streamed; with tools and an image if wanted. */
export function ChatBench({ keyChoice }: { keyChoice: KeyChoice }) {
  const { playground: names } = useMessages();
  const runner = useExchange(keyChoice);
  const models = useModelChoice(keyChoice.key?.id ?? null, 'chat');
  const [turns, setTurns] = useState<readonly Turn[]>([]);
  const [system, setSystem] = useState('');
  const [tools, setTools] = useState('');
  const [text, setText] = useState('');
  const [image, setImage] = useState<File | null>(null);
  const toolList = tools.trim() ? parseJson(tools) : [];
  const areToolsWrong = !Array.isArray(toolList);
  const wantsResult = (turns.at(-1)?.toolCalls.length ?? 0) > 0;

  const send = async () => {
    const said = withSaid(turns, text, image && (await readAsDataUrl(image)));
    let answer = beginAnswer(said);
    const unanswered = answer;
    setTurns([...said, answer]);
    setText('');
    setImage(null);
    const read = createDataLineReader((chunk) => {
      answer = withChunk(answer, chunk);
      setTurns([...said, answer]);
    });
    const body = {
      model: models.model,
      messages: toMessages(system, said),
      stream: true,
      ...(Array.isArray(toolList) && toolList.length > 0 && { tools: toolList }),
    };
    const reply = await runner.run({ path: '/chat/completions', body }, read);
    // What failed before a word was said can be said again.
    if (!reply && answer === unanswered) {
      setTurns(turns);
      setText(text);
      setImage(image);
    }
  };
  const isIncomplete = text.trim() === '' || areToolsWrong;
  const sendOnEnter = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    if (!isIncomplete && !runner.isRunning && runner.canRun) void send();
  };
  const clear = turns.length > 0 && !runner.isRunning && (
    <Button size="xs" variant="default" onClick={() => setTurns([])}>
      {names.clear}
    </Button>
  );

  return (
    <Bench
      title={names.benches.chat}
      runner={runner}
      isIncomplete={isIncomplete}
      onSend={() => void send()}
      acts={clear}
      result={<ConversationView turns={turns} isRunning={runner.isRunning} />}
      options={
        <>
          <ModelField choice={models} />
          <Textarea
            label={names.system}
            value={system}
            onChange={(event) => setSystem(event.currentTarget.value)}
            autosize
            minRows={1}
            maxRows={6}
          />
          <Textarea
            label={names.tools}
            description={names.toolsHint}
            value={tools}
            onChange={(event) => setTools(event.currentTarget.value)}
            error={areToolsWrong && names.toolsWrong}
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
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={sendOnEnter}
        autosize
        minRows={2}
        maxRows={8}
      />
      <FilePick label={names.attachImage} accept="image/*" file={image} onPick={setImage} />
    </Bench>
  );
}
