/** Is told how often a credential was known already, for whoever measures. */
export interface TokenCacheObserver {
  hit(): void
  /** The store was asked; so many tokens are remembered now. */
  missed(rememberedTokens: number): void
}
