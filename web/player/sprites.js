/** Pictures of what falls, drawn once and then only copied. */

/** @typedef {{packets: HTMLCanvasElement[], bomb: HTMLCanvasElement, coin: HTMLCanvasElement}} Sprites */

/** Room around a drawing for its glow and shadow, as a part of its width. */
export const MARGIN = 0.16;

/**
 * @param {number} width of a packet in device pixels
 * @param {string[]} luckyWords one character each; there is one packet sprite for each
 * @returns {Sprites}
 */
export function drawSprites(width, luckyWords) {
  return {
    packets: luckyWords.map((word) => picture(width, width * 1.34, (pen) => drawPacket(pen, width, width * 1.34, word))),
    bomb: picture(width, width, (pen) => drawBomb(pen, width)),
    coin: picture(width * 0.3, width * 0.3, (pen) => drawCoin(pen, width * 0.15, width * 0.15, width * 0.14)),
  };
}

/**
 * @param {number} width
 * @param {number} height
 * @param {(pen: CanvasRenderingContext2D) => void} draw
 */
function picture(width, height, draw) {
  const canvas = document.createElement('canvas');
  const margin = width * MARGIN;
  canvas.width = Math.ceil(width + 2 * margin);
  canvas.height = Math.ceil(height + 2 * margin);
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  pen.translate(margin, margin);
  draw(pen);
  return canvas;
}

/** @param {CanvasRenderingContext2D} pen @param {number} w @param {number} h @param {string} word */
function drawPacket(pen, w, h, word) {
  const edge = w * 0.02;
  pen.save();
  pen.shadowColor = 'rgba(40, 0, 5, 0.55)';
  pen.shadowBlur = w * 0.12;
  pen.shadowOffsetY = w * 0.05;
  roundRect(pen, 0, 0, w, h, w * 0.12);
  pen.fillStyle = shade(pen, 0, h, '#f0444e', '#b3111f');
  pen.fill();
  pen.restore();
  drawClouds(pen, w, h);
  pen.save();
  roundRect(pen, 0, 0, w, h, w * 0.12);
  pen.clip();
  flap(pen, w, h);
  pen.fillStyle = shade(pen, 0, h * 0.5, '#ff6a6c', '#d3202f');
  pen.fill();
  pen.strokeStyle = '#f8c04e';
  pen.lineWidth = w * 0.03;
  flapEdge(pen, w, h);
  pen.stroke();
  pen.restore();
  roundRect(pen, edge, edge, w - 2 * edge, h - 2 * edge, w * 0.11);
  pen.strokeStyle = 'rgba(255, 217, 128, 0.85)';
  pen.lineWidth = w * 0.022;
  pen.stroke();
  drawSeal(pen, w / 2, h * 0.44, w * 0.225, word);
}

/** @param {CanvasRenderingContext2D} pen @param {number} w @param {number} h */
function flap(pen, w, h) {
  pen.beginPath();
  pen.moveTo(0, 0);
  pen.lineTo(w, 0);
  pen.lineTo(w, h * 0.27);
  pen.quadraticCurveTo(w / 2, h * 0.58, 0, h * 0.27);
  pen.closePath();
}

/** @param {CanvasRenderingContext2D} pen @param {number} w @param {number} h */
function flapEdge(pen, w, h) {
  pen.beginPath();
  pen.moveTo(w, h * 0.27);
  pen.quadraticCurveTo(w / 2, h * 0.58, 0, h * 0.27);
}

/** Waves in gold along the lower part. @param {CanvasRenderingContext2D} pen @param {number} w @param {number} h */
function drawClouds(pen, w, h) {
  pen.strokeStyle = 'rgba(255, 205, 110, 0.42)';
  pen.lineWidth = w * 0.014;
  for (const [centre, radius] of [[0.24, 0.17], [0.5, 0.17], [0.76, 0.17], [0.24, 0.085], [0.5, 0.085], [0.76, 0.085]]) {
    pen.beginPath();
    pen.arc(w * centre, h * 0.92, w * radius, Math.PI, 0);
    pen.stroke();
  }
}

/** @param {CanvasRenderingContext2D} pen @param {number} x @param {number} y @param {number} r @param {string} word */
function drawSeal(pen, x, y, r, word) {
  goldDisc(pen, x, y, r);
  pen.fillStyle = '#a30f20';
  pen.font = `800 ${r * 1.15}px "Kaiti SC", STKaiti, KaiTi, "Noto Serif CJK SC", serif`;
  pen.textAlign = 'center';
  pen.textBaseline = 'middle';
  pen.fillText(word, x, y + r * 0.06);
}

/** @param {CanvasRenderingContext2D} pen @param {number} x @param {number} y @param {number} r */
function drawCoin(pen, x, y, r) {
  goldDisc(pen, x, y, r);
  pen.fillStyle = '#8a5a00';
  pen.fillRect(x - r * 0.3, y - r * 0.3, r * 0.6, r * 0.6);
}

/** @param {CanvasRenderingContext2D} pen @param {number} x @param {number} y @param {number} r */
function goldDisc(pen, x, y, r) {
  const gold = pen.createRadialGradient(x - r * 0.35, y - r * 0.4, r * 0.1, x, y, r);
  gold.addColorStop(0, '#fff6d2');
  gold.addColorStop(0.5, '#f8c04e');
  gold.addColorStop(1, '#cf8d18');
  pen.beginPath();
  pen.arc(x, y, r, 0, 2 * Math.PI);
  pen.fillStyle = gold;
  pen.fill();
  pen.lineWidth = r * 0.08;
  pen.strokeStyle = '#a86a08';
  pen.stroke();
  pen.beginPath();
  pen.arc(x, y, r * 0.8, 0, 2 * Math.PI);
  pen.lineWidth = r * 0.05;
  pen.stroke();
}

/** Black, round and lit: nothing like a packet, also without colours. @param {CanvasRenderingContext2D} pen @param {number} w */
function drawBomb(pen, w) {
  const x = w * 0.48;
  const y = w * 0.58;
  const r = w * 0.4;
  pen.save();
  pen.shadowColor = 'rgba(255, 150, 60, 0.75)';
  pen.shadowBlur = w * 0.14;
  const ball = pen.createRadialGradient(x - r * 0.4, y - r * 0.45, r * 0.05, x, y, r);
  ball.addColorStop(0, '#8d93a6');
  ball.addColorStop(0.3, '#3a3e4c');
  ball.addColorStop(1, '#0d0e13');
  pen.beginPath();
  pen.arc(x, y, r, 0, 2 * Math.PI);
  pen.fillStyle = ball;
  pen.fill();
  pen.restore();
  drawFuse(pen, w);
  drawFace(pen, x, y, r);
}

/** @param {CanvasRenderingContext2D} pen @param {number} w */
function drawFuse(pen, w) {
  pen.save();
  pen.translate(w * 0.73, w * 0.29);
  pen.rotate(Math.PI / 4);
  pen.fillStyle = '#2a2d38';
  pen.fillRect(-w * 0.1, -w * 0.055, w * 0.2, w * 0.11);
  pen.restore();
  pen.beginPath();
  pen.moveTo(w * 0.76, w * 0.25);
  pen.quadraticCurveTo(w * 0.84, w * 0.1, w * 0.94, w * 0.15);
  pen.strokeStyle = '#d9b27a';
  pen.lineWidth = w * 0.045;
  pen.stroke();
  pen.save();
  pen.translate(w * 0.94, w * 0.15);
  pen.fillStyle = '#ffdf6b';
  pen.shadowColor = '#ff7a1a';
  pen.shadowBlur = w * 0.12;
  star(pen, 8, w * 0.15, w * 0.06);
  pen.fill();
  pen.restore();
}

/** Two crossed eyes: a warning that needs no words. @param {CanvasRenderingContext2D} pen @param {number} x @param {number} y @param {number} r */
function drawFace(pen, x, y, r) {
  pen.strokeStyle = '#ff5a4a';
  pen.lineWidth = r * 0.13;
  pen.lineCap = 'round';
  for (const side of [-1, 1]) {
    const cx = x + side * r * 0.36;
    const d = r * 0.17;
    pen.beginPath();
    pen.moveTo(cx - d, y - d);
    pen.lineTo(cx + d, y + d);
    pen.moveTo(cx + d, y - d);
    pen.lineTo(cx - d, y + d);
    pen.stroke();
  }
  pen.beginPath();
  pen.arc(x, y + r * 0.6, r * 0.24, Math.PI * 1.15, Math.PI * 1.85);
  pen.stroke();
}

/** @param {CanvasRenderingContext2D} pen @param {number} points @param {number} outer @param {number} inner */
function star(pen, points, outer, inner) {
  pen.beginPath();
  for (let i = 0; i < 2 * points; i++) {
    const radius = i % 2 === 0 ? outer : inner;
    const angle = (Math.PI * i) / points;
    pen.lineTo(Math.cos(angle) * radius, Math.sin(angle) * radius);
  }
  pen.closePath();
}

/** @param {CanvasRenderingContext2D} pen @param {number} x @param {number} y @param {number} w @param {number} h @param {number} r */
function roundRect(pen, x, y, w, h, r) {
  const [right, bottom] = [x + w, y + h];
  pen.beginPath();
  pen.moveTo(x + r, y);
  pen.arcTo(right, y, right, bottom, r);
  pen.arcTo(right, bottom, x, bottom, r);
  pen.arcTo(x, bottom, x, y, r);
  pen.arcTo(x, y, right, y, r);
  pen.closePath();
}

/** @param {CanvasRenderingContext2D} pen @param {number} from @param {number} to @param {string} top @param {string} bottom */
function shade(pen, from, to, top, bottom) {
  const gradient = pen.createLinearGradient(0, from, 0, to);
  gradient.addColorStop(0, top);
  gradient.addColorStop(1, bottom);
  return gradient;
}
