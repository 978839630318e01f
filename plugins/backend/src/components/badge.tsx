/** Colours of states. The text says the same, because colour is never the only sign. */
export type Tone = 'good' | 'bad' | 'warn' | 'quiet' | 'accent'

/** A state in one word. */
export function State({ tone, children }: { readonly tone: Tone; readonly children: string }) {
  return <span className={`state state-${tone}`}>{children}</span>
}

/** The method of a route; all have one width, so that paths are aligned. */
export function MethodBadge({ method }: { readonly method: string }) {
  return <span className={`method method-${method.toLowerCase()}`}>{method}</span>
}
