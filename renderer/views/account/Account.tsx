/** The account of the person signed in: their usage and API tokens. */
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
