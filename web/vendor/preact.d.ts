// What the pages use of preact, typed as loosely as templates allow.

export type ComponentChildren = VNode<any> | ComponentChildren[] | string | number | bigint | boolean | null | undefined | object;

export interface VNode<P = {}> {
  type: unknown;
  props: P & { children: ComponentChildren };
  key: string | number | any;
}

export type Ref<T> = { current: T | null } | ((instance: T | null) => void);

export function h(type: any, props?: Record<string, any> | null, ...children: ComponentChildren[]): VNode<any>;
export function render(vnode: ComponentChildren, parent: Element | Document | DocumentFragment): void;
export const Fragment: (props: { children?: ComponentChildren }) => any;
