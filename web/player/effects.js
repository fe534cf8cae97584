/** What a tap looks like: sparks, coins, words that fly up. All of it is decoration; nothing depends on it. */

/** @typedef {{x: number, y: number, vx: number, vy: number, born: number, life: number, size: number, coin: boolean, spin: number, colour: string}} Spark */
/** @typedef {{x: number, y: number, born: number, life: number, text: string, colour: string, size: number, rise: number, shake: number}} Word */
/** @typedef {{x: number, y: number, born: number, life: number, colour: string, reach: number}} Ripple */

const GRAVITY = 0.0016;
const MOST_SPARKS = 240;

export class Effects {
  /** @type {Spark[]} */
  #sparks = [];
  /** @type {Word[]} */
  #words = [];
  /** @type {Ripple[]} */
  #ripples = [];

  /** The touch itself, before any answer. @param {number} x @param {number} y @param {number} now @param {string} [colour] */
  touch(x, y, now, colour = '#ffd980') {
    this.#ripples.push({ x, y, born: now, life: 380, colour, reach: 46 });
    this._burst(x, y, now, 9, false);
  }

  /** @param {number} x @param {number} y @param {number} now @param {string} text */
  win(x, y, now, text) {
    this.#ripples.push({ x, y, born: now, life: 520, colour: '#fff3c4', reach: 84 });
    this._burst(x, y, now, 16, true);
    this.#words.push({ x, y, born: now, life: 1500, text, colour: '#ffe9a6', size: 34, rise: 110, shake: 0 });
  }

  /** @param {number} x @param {number} y @param {number} now @param {string} text */
  shrug(x, y, now, text) {
    this._burst(x, y, now, 7, false, 'rgba(255, 236, 226, 0.75)');
    this.#words.push({ x, y, born: now, life: 900, text, colour: '#f3e4de', size: 20, rise: 34, shake: 7 });
  }

  /** @param {number} x @param {number} y @param {number} now */
  explode(x, y, now) {
    this.#ripples.push({ x, y, born: now, life: 600, colour: '#ff9a3c', reach: 190 });
    this._burst(x, y, now, 26, false);
  }

  /**
   * @param {CanvasRenderingContext2D} pen in CSS px
   * @param {number} now
   * @param {CanvasImageSource} coin
   * @param {number} width of the scene, so that words stay within it
   */
  draw(pen, now, coin, width) {
    this.#ripples = this.#ripples.filter((ripple) => now - ripple.born < ripple.life);
    this.#sparks = this.#sparks.filter((spark) => now - spark.born < spark.life);
    this.#words = this.#words.filter((word) => now - word.born < word.life);
    for (const ripple of this.#ripples) drawRipple(pen, ripple, now);
    for (const spark of this.#sparks) drawSpark(pen, spark, now, coin);
    for (const word of this.#words) drawWord(pen, word, now, width);
    pen.globalAlpha = 1;
  }

  /** @param {number} x @param {number} y @param {number} now @param {number} count @param {boolean} coin @param {string} [colour] */
  _burst(x, y, now, count, coin, colour = '#ffd980') {
    for (let i = 0; i < count && this.#sparks.length < MOST_SPARKS; i++) {
      const angle = (2 * Math.PI * i) / count + Math.random() * 0.6;
      const speed = (coin ? 0.25 : 0.16) + Math.random() * 0.28;
      this.#sparks.push({
        x, y, coin, colour, born: now, life: 420 + Math.random() * 420, size: coin ? 16 + Math.random() * 12 : 2 + Math.random() * 3,
        vx: Math.cos(angle) * speed, vy: Math.sin(angle) * speed - 0.18, spin: Math.random() * 6,
      });
    }
  }
}

/** @param {CanvasRenderingContext2D} pen @param {Ripple} ripple @param {number} now */
function drawRipple(pen, { x, y, born, life, colour, reach }, now) {
  const part = (now - born) / life;
  pen.globalAlpha = (1 - part) * 0.9;
  pen.lineWidth = 5 * (1 - part) + 1;
  pen.strokeStyle = colour;
  pen.beginPath();
  pen.arc(x, y, 10 + reach * (1 - (1 - part) ** 3), 0, 2 * Math.PI);
  pen.stroke();
}

/** @param {CanvasRenderingContext2D} pen @param {Spark} spark @param {number} now @param {CanvasImageSource} coin */
function drawSpark(pen, spark, now, coin) {
  const age = now - spark.born;
  const x = spark.x + spark.vx * age;
  const y = spark.y + spark.vy * age + (GRAVITY * age * age) / 2;
  pen.globalAlpha = 1 - age / spark.life;
  if (spark.coin) {
    const squeeze = Math.abs(Math.cos(spark.spin + age / 90)) * spark.size + 2;
    pen.drawImage(coin, x - squeeze / 2, y - spark.size / 2, squeeze, spark.size);
    return;
  }
  pen.fillStyle = spark.colour;
  pen.fillRect(x - spark.size / 2, y - spark.size / 2, spark.size, spark.size);
}

/** @param {CanvasRenderingContext2D} pen @param {Word} word @param {number} now @param {number} width */
function drawWord(pen, word, now, width) {
  const part = (now - word.born) / word.life;
  const eased = 1 - (1 - part) ** 3;
  const pop = Math.min(1, part * 8) * (1 + 0.25 * Math.max(0, 1 - part * 6));
  pen.globalAlpha = part < 0.6 ? 1 : (1 - part) / 0.4;
  pen.font = `800 ${word.size * pop}px system-ui, sans-serif`;
  pen.textAlign = 'center';
  pen.textBaseline = 'middle';
  const half = pen.measureText(word.text).width / 2 + 8;
  const shrug = Math.sin(part * 22) * word.shake * (1 - part);
  const x = Math.min(Math.max(word.x + shrug, half), width - half);
  const y = Math.max(word.y - word.rise * eased, 90);
  pen.lineWidth = word.size * 0.22;
  pen.lineJoin = 'round';
  pen.strokeStyle = 'rgba(74, 5, 13, 0.9)';
  pen.strokeText(word.text, x, y);
  pen.fillStyle = word.colour;
  pen.fillText(word.text, x, y);
}
