/** What is the person's own, who is signed in: what they have used, and their API tokens. */
import { Screen } from '../../components/Screen.tsx';
import { TokensSection } from '../people/TokensSection.tsx';
import { OwnUsageSection } from './OwnUsageSection.tsx';

export function Account() {
  return (
    <Screen name="account">
      <OwnUsageSection />
      <TokensSection of="me" />
    </Screen>
  );
}
