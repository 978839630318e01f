/** What keeps an action from being possible. */
export interface Obstacle {
  /** Whether it is not known yet. */
  readonly isChecking: boolean
  /** Why it is not possible; undefined if it is. */
  readonly text: string | undefined
}
