const mark: unique symbol = Symbol('written by an action')

/** Marks a logger, and the child loggers made from it, as the logger of an action. `dev` prints its lines. */
export function markActionLogger<Logger extends object>(logger: Logger): Logger {
  return Object.assign(logger, { [mark]: true })
}

export function isActionLogger(logger: object): boolean {
  return mark in logger
}
