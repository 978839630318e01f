const mark: unique symbol = Symbol('written by an action')

/** Marks a logger as one that an action writes to, those made from it too: its lines are what `dev` shows. */
export function markOfAction<Logger extends object>(logger: Logger): Logger {
  return Object.assign(logger, { [mark]: true })
}

export function isOfAction(logger: object): boolean {
  return mark in logger
}
