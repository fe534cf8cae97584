/** What the host's page uses of uPlot. */
export type Data = (number | null)[][];

export interface Options {
  width: number;
  height: number;
  legend?: { show: boolean };
  cursor?: { show: boolean };
  scales?: Record<string, { time?: boolean; range?: (chart: unknown, min: number | null, max: number | null) => [number, number] }>;
  series: { stroke?: string; fill?: string; width?: number; points?: { show: boolean } }[];
  axes: {
    stroke?: string;
    size?: number;
    space?: number;
    font?: string;
    grid?: { stroke?: string; width?: number };
    ticks?: { show: boolean };
    values?: (chart: unknown, values: number[]) => string[];
  }[];
}

export default class uPlot {
  constructor(options: Options, data: Data, place: HTMLElement);
  setData(data: Data): void;
  setSize(size: { width: number; height: number }): void;
  destroy(): void;
}
