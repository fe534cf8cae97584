/** The host's page. Which data-test attributes it has: testing/host-attributes.md. */
import { addWords, t } from '../shared/i18n.js';
import { startPage } from '../shared/start-page.js';
import { HostPage } from './host-page.js';
import { words as en } from './words.en.js';
import { words as zh } from './words.zh.js';

addWords({ en, zh });
startPage(HostPage, () => t('host.title'));
