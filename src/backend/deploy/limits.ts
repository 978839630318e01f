const mb = 1024 * 1024

/** Size limits for deployments, in bytes. */
export const releaseLimits = {
  /** One artifact: an action or a migration with everything bundled. */
  artifactBytes: 16 * mb,
  /** All artifacts of a release together. */
  releaseBytes: 64 * mb,
  /** The manifest as JSON. */
  manifestBytes: 8 * mb,
  /** One upload, as uncompressed JSON. Fits an artifact with many escaped characters. */
  uploadBytes: 40 * mb,
  /** All uploaded artifacts that are not part of a release yet. */
  pendingBytes: 256 * mb,
} as const
