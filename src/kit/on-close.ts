let register: ((close: () => unknown) => void) | undefined

/**
 * Registers a function that ends what a module of a release has opened, such as a timer, a pool or a server. Call it while
 * the module is loaded, or when the resource is opened.
 *
 * It is called once, when no request, cronjob or release uses this version of the module that calls `onClose` any more, and
 * may return a promise; the last one that was registered is called first. Outside of a release it has no effect.
 */
export function onClose(close: () => unknown): void {
  register?.(close)
}

/** Sets who remembers what is given to `onClose`: the room `release`, which knows the modules. */
export function setCloseRegister(next: (close: () => unknown) => void): void {
  register = next
}
