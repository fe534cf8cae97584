import { asApiError } from '../shared/api.js';
import { t } from '../shared/i18n.js';
import { showToast } from '../shared/toast.js';
import { html } from '../shared/view.js';
import { setAccess } from './host-api.js';

/** @import {RoomDetail} from './host-api.js' */

/**
 * Sets who may join the room.
 * @param {{room: RoomDetail, changed: (room: RoomDetail) => void}} props
 */
export function AccessCard({ room, changed }) {
  /** @param {Partial<RoomDetail>} change */
  const set = (change) => {
    const { locked, app_only } = { ...room, ...change };
    setAccess(room.code, { locked, app_only }).then((answer) => changed(answer.room), (error) => {
      showToast(asApiError(error).text, 'bad');
      changed({ ...room }); // resets the boxes
    });
  };
  /** @param {'locked'|'app_only'} name */
  const check = (name) => html`<label class="check">
    <input type="checkbox" data-test="door-${name}" checked=${room[name]}
      onChange=${(/** @type {{currentTarget: HTMLInputElement}} */ event) => set({ [name]: event.currentTarget.checked })} />
    <span><span class="field-label">${t(`door.${name}`)}</span><span class="field-hint">${t(`door_hint.${name}`)}</span></span>
  </label>`;
  return html`<section class="card doors" data-test="doors" data-locked=${room.locked} data-app=${room.app_only}><h2>${t('doors.title')}</h2>${check('locked')}${check('app_only')}</section>`;
}
