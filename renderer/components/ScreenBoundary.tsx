import { Button } from '@mantine/core';
import { Component, type ReactNode } from 'react';
import { useMessages } from '../messages/use-messages.ts';
import classes from './ScreenBoundary.module.css';

/** Keeps a screen that breaks, or cannot be loaded, from taking the others with it. */
export class ScreenBoundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: null };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render() {
    return this.state.error === null ? this.props.children : <BrokenScreen error={this.state.error} />;
  }
}

function BrokenScreen({ error }: { error: unknown }) {
  const { screenBroken: messages } = useMessages();
  return (
    <div className={classes.broken} role="alert">
      <h1 className={classes.title}>{messages.title}</h1>
      <p>{messages.text}</p>
      <pre className={classes.error}>{String(error)}</pre>
      <Button onClick={() => location.reload()}>{messages.reload}</Button>
    </div>
  );
}
