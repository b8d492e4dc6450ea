#Requires -Version 7.0
<#
.SYNOPSIS
  Logs in to Espalier, lists the subfolders of the root page by page, refreshes the tokens and logs out.
.DESCRIPTION
  UNTESTED: unlike the other examples, no test runs this one. Please report errors.
  Needs PowerShell 7 and no module. Asks for the password unless ESPALIER_PASSWORD is set.
.EXAMPLE
  ./Espalier.ps1 -Api http://127.0.0.1:8080 -Username admin
#>
[CmdletBinding()]
param(
  [string] $Api = 'http://127.0.0.1:8080',
  [string] $Username = 'admin'
)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'

# The current tokens, in memory only.
$script:Tokens = $null

# Returns the status, the headers and the body, even of an error response.
function Send-Post {
  param([string] $Path, [hashtable] $Body, [string] $AuthToken)
  $request = @{
    Uri                = $Api.TrimEnd('/') + $Path
    Method             = 'Post'
    ContentType        = 'application/json'
    Body               = [Text.Encoding]::UTF8.GetBytes((ConvertTo-Json $Body -Depth 10 -Compress))
    SkipHttpErrorCheck = $true
    MaximumRedirection = 0
    TimeoutSec         = 30
  }
  if ($AuthToken) { $request.Headers = @{ Authorization = "Bearer $AuthToken" } }
  try { $response = Invoke-WebRequest @request }
  catch { throw "Cannot reach ${Api}: $($_.Exception.Message)" }
  $text = [Text.Encoding]::UTF8.GetString($response.RawContentStream.ToArray())
  try { $value = if ($text) { ConvertFrom-Json $text -AsHashtable } else { @{} } }
  catch { throw "$Api$Path returned no JSON. Is it an Espalier server?" }
  @{ Status = [int] $response.StatusCode; Headers = $response.Headers; Body = $value }
}

# Throws the message of an error: problem+json (RFC 9457), or a GraphQL error of /graphql.
function Assert-Status {
  param([hashtable] $Response, [int] $Status)
  $body = $Response.Body
  if ($Response.Status -eq $Status -and -not $body.ContainsKey('errors')) { return }
  if ($body.ContainsKey('errors')) { throw $body.errors[0].message }
  if ($body.ContainsKey('detail')) { throw $body.detail }
  throw "The server returned $($Response.Status)."
}

function Save-Tokens {
  param([hashtable] $Response)
  Assert-Status $Response 200
  $script:Tokens = $Response.Body
  # After 80 % of the lifetime, so that no request is sent with an expired token.
  $script:RefreshAt = [DateTime]::UtcNow.AddSeconds($Response.Body.expires_in * 0.8)
}

# Sends both tokens, and replaces both. The auth token may have expired. A refresh token can be used only once.
function Update-Tokens {
  Save-Tokens (Send-Post '/login/refresh' @{ refreshToken = $Tokens.refreshToken } $Tokens.authToken)
}

function Invoke-Query {
  param([string] $Query, [hashtable] $Variables = @{})
  if ([DateTime]::UtcNow -ge $RefreshAt) { Update-Tokens }
  $body = @{ query = $Query; variables = $Variables }
  $response = Send-Post '/graphql' $body $Tokens.authToken
  if ($response.Status -eq 401 -and $response.Headers['token-expired'] -contains 'true') {
    Update-Tokens
    $response = Send-Post '/graphql' $body $Tokens.authToken
  }
  Assert-Status $response 200
  $response.Body.data
}

function Get-RootSubfolder {
  $query = 'query ($after: String) {
    folder { folders(first: 100, after: $after) { items { id name } pageInfo { hasNextPage endCursor } } } }'
  $after = $null
  do {
    $page = (Invoke-Query $query @{ after = $after }).folder.folders
    foreach ($folder in $page.items) { [pscustomobject] $folder }
    $after = $page.pageInfo.endCursor
  } while ($page.pageInfo.hasNextPage)
}

$password = $env:ESPALIER_PASSWORD
if (-not $password) {
  $password = Read-Host "Password of $Username" -AsSecureString | ConvertFrom-SecureString -AsPlainText
}

try {
  Save-Tokens (Send-Post '/login' @{ username = $Username; password = $password })
  try {
    Get-RootSubfolder
    Update-Tokens
  }
  finally {
    # Sends only the refresh token, so it works even if the auth token has expired.
    $response = Send-Post '/logout' @{ refreshToken = $Tokens.refreshToken }
  }
  Assert-Status $response 204
}
catch {
  [Console]::Error.WriteLine("Espalier.ps1: $($_.Exception.Message)")
  exit 1
}
