// What the pages use of canvas-confetti.

export interface ConfettiOptions {
  particleCount?: number;
  angle?: number;
  spread?: number;
  startVelocity?: number;
  ticks?: number;
  gravity?: number;
  scalar?: number;
  origin?: { x?: number; y?: number };
  colors?: string[];
  disableForReducedMotion?: boolean;
}

export interface Confetti {
  (options?: ConfettiOptions): Promise<void> | null;
  reset(): void;
}

export function create(canvas: HTMLCanvasElement, options: { resize?: boolean; useWorker?: boolean }): Confetti;
