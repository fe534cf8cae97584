/*
 * Loads once more what got lost on the way: a module by loading the page again, since a browser may remember that it failed, a
 * style sheet by itself. No module and in the oldest JavaScript: it runs where the page does not.
 */
(function () {
  var NAME = 'redrain.loaded-again';
  var SOON_MS = 300;

  function loadPageAgain() {
    try {
      if (sessionStorage.getItem(NAME)) document.documentElement.className += ' failed';
      else {
        sessionStorage.setItem(NAME, 'yes');
        setTimeout(function () { location.reload(); }, SOON_MS);
      }
    } catch (refused) {
      // Without storage it could go on for ever: the notice says what to do.
    }
  }

  /** @param {HTMLLinkElement} link */
  function loadStylesAgain(link) {
    if (link.getAttribute('data-again')) return;
    var again = /** @type {HTMLLinkElement} */ (link.cloneNode());
    again.setAttribute('data-again', 'yes');
    setTimeout(function () { link.replaceWith(again); }, SOON_MS);
  }

  window.addEventListener('error', function (event) {
    var lost = /** @type {any} */ (event.target);
    if (lost.tagName === 'SCRIPT') loadPageAgain();
    if (lost.tagName === 'LINK' && lost.rel === 'stylesheet') loadStylesAgain(lost);
  }, true);

  window.addEventListener('load', function () {
    try {
      if (!document.getElementById('not-running')) sessionStorage.removeItem(NAME);
    } catch (refused) {
      // nothing was stored
    }
  });
})();
